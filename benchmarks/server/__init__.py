"""Benchmarks of the whole server: HTTP API, durable store, control loop and timer engine, in a process of its own."""
