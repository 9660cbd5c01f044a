"""`python -m quotatree` is the same command as `quotatree`."""

from quotatree.cli import main

if __name__ == "__main__":
    main()
