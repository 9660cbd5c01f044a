"""Which pod gets which place: as many as were planned, each with what it was planned with, whatever labels say (A7, W2)."""

from __future__ import annotations

from dataclasses import replace

from quotatree.core import JobId, Shape
from quotatree.engines.kubernetes.adopted_places import places_of
from quotatree.engines.kubernetes.adopted_runs import AdoptedRun, AdoptedRuns
from quotatree.engines.kubernetes.adopted_view import PodView, Spot
from quotatree.engines.kubernetes.kinds import Key

ONE = Shape(1000, 0, 0)


def run() -> AdoptedRun:
    spots = (Spot(0, "n0"), Spot(0, "n1"), Spot(1, "n2"))
    return AdoptedRun(JobId("dlc-1"), 1, "u", "n", spots, (ONE, ONE, ONE))


def pod(name: str, group: int = 0, replica: int | None = None, node: str = "", **more: object) -> PodView:
    found = PodView(
        key=Key("n", name),
        uid=name,
        things=("u",),
        owners=("u",),
        labelled=True,
        group=group,
        run="" if replica is None else "dlc-1.1",
        replica=replica,
        node=node,
        phase="Pending",
        gated=replica is None and not node,
        deleting=False,
        asks=ONE,
        unplaced="",
        spec="",
    )
    return replace(found, **more)  # type: ignore[arg-type]


def test_each_pod_at_the_gate_gets_a_free_place_of_its_template():
    pods = [pod("c", 1), pod("a"), pod("b"), pod("x", 0, 0, "n0"), pod("z", 0, 1, "n1", phase="Failed")]
    found = places_of(run(), pods)
    assert [(view.key.name, replica) for view, replica in found.free] == [("a", 1), ("c", 2)]
    assert (found.others, found.odd) == ([], [])


def test_a_pod_that_asks_for_more_than_was_planned_gets_no_place():
    greedy = pod("a", asks=Shape(8000, 0, 0))
    found = places_of(run(), [greedy, pod("b")])
    assert [view.key.name for view, _ in found.free] == ["b"]
    assert [(view.key.name, why) for view, why in found.odd] == [("a", "a pod asks for 8 GPUs now, not 1")]


def test_pods_of_the_controller_go_before_copies_that_others_made():
    copies = [pod(f"a{number}", owners=()) for number in range(3)]
    found = places_of(run(), [*copies, pod("z")])
    assert found.free[0] == (pod("z"), 0)
    assert len(found.free) == 2


def test_pods_past_the_gate_that_were_not_planned_are_seen():
    found = places_of(
        run(),
        [
            pod("right", 0, 0, "n0"),
            pod("twice", 0, 0, "n0"),
            pod("elsewhere", 0, 1, "n9"),
            pod("greedy", 0, 1, "n1", asks=Shape(8000, 0, 0)),
            pod("no-such", 0, 7, "n1"),
            pod("preset", node="n2"),
            pod("earlier", 1, 2, "n2", run="dlc-1.0"),
        ],
    )
    assert found.planned == {0: pod("right", 0, 0, "n0")}
    others = {view.key.name for view in found.others}
    assert others == {"twice", "elsewhere", "greedy", "no-such", "preset", "earlier"}


def test_without_a_run_no_pod_was_planned():
    found = places_of(None, [pod("gated"), pod("p", 0, 0, "n0")])
    assert [view.key.name for view in found.others] == ["p"]
    assert found.free == []


def test_a_pod_keeps_its_object_and_its_place_when_its_labels_are_taken_off():
    known = AdoptedRuns()
    known.begin(run())
    placed = pod("p", 0, 0, "n0")
    known.pod_changed(None, placed)
    bare = replace(placed, things=(), owners=(), labelled=False, group=-1, run="", replica=None)
    known.pod_changed(placed, bare)
    [seen] = known.pods_of("u")
    assert (seen.replica, seen.run, seen.group) == (0, "dlc-1.1", 0)
    known.pod_changed(bare, None)
    assert known.pods_of("u") == []
