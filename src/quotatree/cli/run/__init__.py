"""How is a server run and looked after? Serve, migrate, back up, restore, and a doctor."""
