"""What shall be different? The commands that change something, and the files they read."""
