"""What is there, and why? The commands that only look: lists, one thing in full, reasons, the tree,
logs.
"""
