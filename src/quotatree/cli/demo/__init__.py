"""The 128-GPU example of `quotatree demo`, on a separate server with real processes."""
