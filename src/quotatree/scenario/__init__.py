"""Scenario files: a tree, nodes, jobs and a timeline in TOML, played through the core without a clock or a cluster."""
