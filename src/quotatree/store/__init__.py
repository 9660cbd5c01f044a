"""What is kept: SQLite or PostgreSQL, one transaction for each batch of the loop."""
