"""The things themselves: resources, nodes, quotas, jobs, and what may be evicted as one piece.

Values and records with the arithmetic that belongs to each. Nothing here decides, and nothing here knows the state.
"""
