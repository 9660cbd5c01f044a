"""A virtual clock and an event heap around the same core: traces in, numbers out."""
