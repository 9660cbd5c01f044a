"""What would happen? The commands that play scenarios and traces on files, without a server."""
