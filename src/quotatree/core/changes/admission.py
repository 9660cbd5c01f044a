"""Which jobs are refused at once: those that would not fit even an empty cluster (S11), would keep others waiting for too long
when they must leave (P14), or name places they cannot have (R3)?
"""

from __future__ import annotations

from fractions import Fraction

from quotatree.core.errors import Refused
from quotatree.core.model.job import Idle, Job, JobSpec, Placed, Shape
from quotatree.core.model.node import Node, NodeState
from quotatree.core.model.quota import Quota
from quotatree.core.model.resources import RESOURCE_NAMES, WHOLE_GPU, amount_text, resources_text
from quotatree.core.sentences import Sentence, a_job, a_quota
from quotatree.core.state import State


def check_can_ever_fit(state: State, spec: JobSpec, quota: Quota) -> None:
    """Raise Refused, naming the bound, for a job that would not fit even if all other jobs had left (S11)."""
    total = [0, 0, 0]
    left = spec.core_replicas
    for group in spec.groups:
        count = min(left, group.replicas)
        left -= count
        gpu_milli, cpu_milli, memory_mib = group.shape[:3]
        total[0] += gpu_milli * count
        total[1] += cpu_milli * count
        total[2] += memory_mib * count
    borrows = quota.parent is not None and quota.spec.self_level.reaches_siblings(spec.priority)
    for above in quota.path:
        if above is quota and borrows:
            continue
        if spec.idle is Idle.ONLY and above is not quota.root:
            continue
        for i, bound in above.named:
            if total[i] > bound:
                raise Refused(
                    RESOURCE_NAMES[i], amount_text(i, total[i]), "S11",
                    Sentence("can never fit: the min of ", a_quota(above.id), f" is {amount_text(i, bound)}"),
                )  # fmt: skip
    for group in spec.groups:
        key = ("suits", quota.root.id, group.shape)
        if state.indexes.get(key) != state.nodes_version:
            _check_some_node(group.shape, state.nodes_of(quota.root), quota)
            state.indexes[key] = state.nodes_version
    _check_all_at_once(state, spec, quota)


def check_grace(state: State, spec: JobSpec) -> None:
    """Raise Refused for a grace above the longest: a victim would keep its GPUs for as long, whatever takes them (P14)."""
    longest_ms = state.settings.longest_grace_ms
    if longest_ms and spec.grace_ms > longest_ms:
        raise Refused(
            "grace", f"{spec.grace_ms / 1000:g} s", "P14", f"must be at most {longest_ms / 1000:g} s, the longest_grace here"
        )  # fmt: skip


def _check_all_at_once(state: State, spec: JobSpec, quota: Quota) -> None:
    """Raise Refused unless the root's nodes, if empty, could hold all replicas of each shape of the core at once."""
    if spec.core_replicas == 1:
        return
    left = spec.core_replicas
    wanted: dict[Shape, int] = {}
    for group in spec.groups:
        count = min(left, group.replicas)
        left -= count
        wanted[group.shape] = wanted.get(group.shape, 0) + count
    for shape, count in wanted.items():
        key = ("all slots", quota.root.id, shape)
        known: tuple[int, int] | None = state.indexes.get(key)
        if known is None or known[0] != state.nodes_version:
            slots = sum(n.slots_when_well(shape) for n in state.nodes_of(quota.root) if n.accepts(shape))
            known = state.indexes[key] = (state.nodes_version, slots)
        if known[1] < count:
            raise Refused(
                "replicas", count, "S11",
                Sentence(
                    "can never fit: the nodes of ", a_quota(quota.root.id), f" hold {known[1]} replicas of this size at once"
                ),
            )  # fmt: skip


def _check_some_node(shape: Shape, nodes: list[Node], quota: Quota) -> None:
    """Raise Refused, naming model, labels or resources, unless some node could hold one replica if it were empty."""
    if any(node.accepts(shape) for node in nodes):
        return
    tree = Sentence("the tree of ", a_quota(quota.root.id))
    right_model = [n for n in nodes if not shape.models or n.spec.model in shape.models]
    if not right_model:
        there = ", ".join(sorted({n.spec.model for n in nodes})) or "no nodes"
        raise Refused("models", list(shape.models), "S11", Sentence(tree, f" has only {there}"))
    welcoming = [n for n in right_model if n.welcomes(shape)]
    if not welcoming:
        raise Refused(
            "labels", dict(shape.labels), "S11",
            Sentence(
                "no node of ", tree, f" has {'all of these' if len(shape.labels) > 1 else 'this'}; ",
                "; ".join(_label_values(key, right_model) for key, _ in shape.labels),
            ),
        )  # fmt: skip
    nearest = min(welcoming, key=lambda node: (_lack(node, shape), node.spec.name))
    short = [i for i in range(3) if shape.resources[i] > nearest.spec.size[i]]
    has = " and ".join(amount_text(i, nearest.spec.size[i]) for i in short)
    raise Refused(
        RESOURCE_NAMES[short[0]], " and ".join(amount_text(i, shape.resources[i]) for i in short), "S11",
        f"one replica of {resources_text(shape.resources)} is larger than any node it may use; "
        f"{nearest.spec.name} comes nearest, with {has}",
    )  # fmt: skip


def _label_values(key: str, nodes: list[Node]) -> str:
    """Return which values of a label these nodes have, in words."""
    values = sorted({node.labels[key] for node in nodes if key in node.labels})
    return f"{key} is {', '.join(values)}" if values else f"none has the label {key}"


def _lack(node: Node, shape: Shape) -> tuple[int, Fraction]:
    """Return how many resources a node has too little of, and the largest part of the request that is missing."""
    missing = [
        Fraction(wanted - have, wanted)
        for wanted, have in zip(shape.resources, node.spec.size, strict=True)
        if wanted > have
    ]
    return len(missing), max(missing)


def check_places(state: State, job: Job, places: tuple[Placed, ...]) -> None:
    """Raise Refused unless a job can stand on these places: replicas it has, on devices and a share of nodes that are free (R3)."""
    _check_replicas(job, places)
    taken: dict[tuple[int, int], int] = {}
    together: dict[int, tuple[int, int]] = {}
    for place in places:
        if not 0 <= place.node < len(state.nodes):
            raise Refused("place", place.node, "R3", "no such node")
        node = state.nodes[place.node]
        if node.state is NodeState.LOST:
            raise Refused("place", node.spec.name, "R5", "the node is lost")
        _check_devices(node, place)
        free, free_cpu, free_memory = node.left(True)  # without what is still leaving
        milli = min(place.shape.gpu_milli, WHOLE_GPU)
        for device in place.devices:
            before = taken.get((place.node, device), 0)
            if free[device] - before < milli:
                raise Refused("place", f"{node.spec.name}:{device}", "R3", "the device is taken already")
            taken[(place.node, device)] = before + milli
        cpu, memory = together.get(place.node, (0, 0))
        cpu, memory = cpu + place.shape.cpu_milli, memory + place.shape.memory_mib
        if (place.shape.cpu_milli and cpu > free_cpu) or (place.shape.memory_mib and memory > free_memory):
            raise Refused("place", node.spec.name, "R3", "its CPU or memory is taken already")
        together[place.node] = (cpu, memory)


def _check_replicas(job: Job, places: tuple[Placed, ...]) -> None:
    """Raise Refused unless the places are of replicas that the job has, each once, and of all of its core."""
    numbers = [place.replica for place in places]
    if len(set(numbers)) != len(numbers) or not set(range(job.core_replicas)) <= set(numbers):
        raise Refused(
            "place", job.id, "R3", f"must name a place for each of its {job.core_replicas} replicas"
        )
    for place in places:
        if not 0 <= place.replica < job.spec.most_replicas:
            raise Refused(
                "place",
                place.replica,
                "R3",
                Sentence(a_job(job.id), f" has {job.spec.most_replicas} replicas"),
            )
        if place.shape != job.shape_of(place.replica):
            raise Refused("place", place.replica, "R3", "names another size than the job's")


def _check_devices(node: Node, place: Placed) -> None:
    """Raise Refused unless the place names as many devices of its node as it needs, each once and none that is ill."""
    wanted = max(place.shape.whole_gpus, 1 if place.shape.fraction_milli else 0)
    if len(set(place.devices)) != wanted or len(place.devices) != wanted:
        raise Refused("place", f"{node.spec.name}:{place.devices}", "R3", "names the wrong number of devices")
    for device in place.devices:
        if not 0 <= device < len(node.free):
            raise Refused("place", f"{node.spec.name}:{device}", "R3", "no such device")
        if device in node.ill:
            raise Refused("place", f"{node.spec.name}:{device}", "R5", "the device is ill")
