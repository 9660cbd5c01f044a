"""What does an event or a decision do to the state? Checked against the rules first: what is refused changed nothing."""
