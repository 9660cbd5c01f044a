"""What are the policies worth, on real traces? One module for each question."""
