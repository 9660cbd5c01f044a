"""Makes what a release consists of, into dist/: `make release`. What is made is checked by tests/release."""
