"""The process that watches over one run: it outlives the server, and needs nothing but the standard library."""
