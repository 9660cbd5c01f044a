"""Which nodes does `--nodes 16x8:H100` mean? For machines without GPUs, tests and the demo.

Several kinds are joined by commas: `4x8:H100,2x4:L20`. Nodes of one model are in the pool `default`; with several models, each
model is a pool of its name (R4), as on Kubernetes. A node may have no GPU (`1x0`). Virtual nodes carry the label `virtual=true`.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Final

from quotatree.core import NodeSpec, Refused

MOST_NODES: Final = 10_000
MOST_GPUS: Final = 64
VIRTUAL_LABELS: Final = (("virtual", "true"),)

_KIND: Final = re.compile(r"(\d{1,6})x(\d{1,6})(?::([A-Za-z0-9](?:[A-Za-z0-9._-]{0,61}[A-Za-z0-9])?))?")


def virtual_nodes(text: str) -> tuple[NodeSpec, ...]:
    """The nodes, named node-0, node-1, … in the order in which they are written."""
    models: set[str] = set()
    nodes: list[NodeSpec] = []
    for part in text.split(","):
        match = _KIND.fullmatch(part.strip())
        if match is None:
            raise _refused(text, "say NODESxGPUS or NODESxGPUS:MODEL, such as 16x8 or 16x8:H100")
        count, gpus, model = int(match[1]), int(match[2]), match[3] or "GPU"
        if not 1 <= count <= MOST_NODES - len(nodes):
            raise _refused(text, f"there may be 1 to {MOST_NODES} nodes")
        if gpus > MOST_GPUS:
            raise _refused(text, f"a node may have 0 to {MOST_GPUS} GPUs")
        begin = len(nodes)
        nodes += [
            NodeSpec(f"node-{n}", model=model, gpus=gpus, labels=VIRTUAL_LABELS)
            for n in range(begin, begin + count)
        ]
        models.add(model)
    return tuple(nodes) if len(models) == 1 else tuple(replace(node, pool=node.model) for node in nodes)


def _refused(text: str, message: str) -> Refused:
    return Refused("nodes", text, "R2", message)
