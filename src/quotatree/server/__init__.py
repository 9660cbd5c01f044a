"""A server put together: which engine runs the jobs, and who is started and stopped in which order."""
