"""What a file or a resource says a server should be, and the steps that lead there: one way for every edge that applies."""
