"""Who may do what, and what may he see (W1-W5)? Pure: values and checks, no I/O and no clock."""
