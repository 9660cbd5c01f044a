"""The brain: events in, decisions out. Pure, standard library only, no clock, no randomness (A1, A3)."""
