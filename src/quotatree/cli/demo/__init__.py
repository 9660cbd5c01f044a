"""The 128-GPU example of `quotatree demo`, on a server of its own with real processes."""
