"""QuotaTree divides a GPU cluster into a tree of quotas and decides which job runs where.

Teams submit jobs to their quota; when something important cannot start, GPUs are taken back from less
important work by explicit policy, at the least cost, and every decision carries its reason. The deciding
part is `quotatree.core`: events in, decisions out, no I/O. Everything else in this package feeds it and
shows what it decided.
"""

__version__ = "0.9.0"
