"""Real processes on this machine: a supervisor per run that outlives the server, and the engine that talks to it by files.

Nothing is imported here: the supervisor comes through this package, and each of its milliseconds is paid at every start.
"""
