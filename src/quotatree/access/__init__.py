"""Who may do what, and what may they see (W1-W5)? Pure: values and checks, no I/O and no clock."""
