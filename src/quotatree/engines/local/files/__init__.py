"""What do server and supervisor tell each other, and where does it lie? The files that outlive both."""
