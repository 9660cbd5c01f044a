"""What can be asked of the server that changes something: the commands as values, and who carries out which."""
