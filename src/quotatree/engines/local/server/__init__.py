"""The server's side of the local engine: it writes orders, and reads what supervisors tell."""
