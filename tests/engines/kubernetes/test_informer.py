"""Does an informer know what is there, whatever happens to its list and its watch?"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from quotatree.engines.kubernetes.errors import ClusterError, Expired
from quotatree.engines.kubernetes.informer import Informer
from quotatree.engines.kubernetes.kinds import PODS, Key, Kind, Object


def pod(name: str, size: int, version: int = 1) -> Object:
    return {
        "metadata": {"namespace": "a", "name": name, "resourceVersion": str(version)},
        "spec": {"size": size},
    }


class Script:
    """A cluster that answers lists and watches with what was prepared, and notes the versions it was asked from."""

    def __init__(self) -> None:
        self.lists: list[list[list[Object]]] = []  # each a list of pages
        self.watches: list[list[Object] | Exception] = []
        self.asked_from: list[str] = []
        self._pages: list[list[Object]] = []

    def page(
        self, kind: Kind, namespace=None, *, labels: str = "", fields: str = "", token: str = ""
    ) -> Object:
        if not token:
            self._pages = self.lists.pop(0)
        items = self._pages[int(token or 0)]
        following = int(token or 0) + 1
        more = {"continue": str(following)} if following < len(self._pages) else {}
        return {"items": items, "metadata": {"resourceVersion": "100", **more}}

    @contextmanager
    def watch(
        self, kind: Kind, namespace=None, *, version: str, seconds: int, labels="", fields=""
    ) -> Iterator:
        self.asked_from.append(version)
        said = self.watches.pop(0)
        if isinstance(said, Exception):
            raise said
        yield said


class Seen:
    def __init__(self, script: Script) -> None:
        self.told: list[tuple[str, int | None, int | None]] = []
        self.fails = 0
        self.informer = Informer(script, PODS, lambda one: one["spec"]["size"] or None, self.changed)

    def changed(self, key: Key, before: int | None, after: int | None) -> None:
        if self.fails:
            self.fails -= 1
            raise RuntimeError("the listener broke")
        self.told.append((key.name, before, after))


@pytest.fixture
def script() -> Script:
    return Script()


@pytest.fixture
def seen(script: Script) -> Seen:
    return Seen(script)


def test_a_list_of_several_pages_is_told_and_watched_from_its_version(script: Script, seen: Seen):
    script.lists.append([[pod("a", 1), pod("b", 2)], [pod("c", 3)]])
    script.watches.append([])
    seen.informer.step()
    assert seen.told == [("a", None, 1), ("b", None, 2), ("c", None, 3)]
    assert script.asked_from == ["100"]
    assert seen.informer.wait(0)


def test_a_watch_that_ended_goes_on_from_the_last_version_it_saw(script: Script, seen: Seen):
    script.lists.append([[pod("a", 1)]])
    bookmark = {"type": "BOOKMARK", "object": {"metadata": {"resourceVersion": "120"}}}
    script.watches += [[{"type": "MODIFIED", "object": pod("a", 4, 110)}, bookmark], []]
    seen.informer.step()
    seen.informer.step()
    assert seen.told == [("a", None, 1), ("a", 1, 4)]
    assert script.asked_from == ["100", "120"]


def test_after_an_expired_watch_everything_is_listed_and_only_what_differs_is_told(
    script: Script, seen: Seen
):
    script.lists += [[[pod("a", 1), pod("b", 2)]], [[pod("b", 2), pod("c", 3)]]]
    script.watches += [[{"type": "ERROR", "object": {"code": 410, "message": "too old"}}], []]
    with pytest.raises(Expired, match="too old") as caught:
        seen.informer.step()
    seen.informer._note_fault(caught.value)
    seen.informer.step()
    assert seen.told == [("a", None, 1), ("b", None, 2), ("c", None, 3), ("a", 1, None)]
    assert {key.name: size for key, size in seen.informer.known().items()} == {"b": 2, "c": 3}


def test_a_connection_that_breaks_is_watched_on_and_listed_anew_only_if_that_repeats(
    script: Script, seen: Seen
):
    script.lists += [[[pod("a", 1)]], [[pod("a", 1)]]]
    away = ClusterError(0, "", "gone")
    script.watches += [away, away, away, []]
    for _ in range(3):
        with pytest.raises(ClusterError) as caught:
            seen.informer.step()
        seen.informer._note_fault(caught.value)
    assert len(script.lists) == 1
    assert seen.informer.error == "gone"
    seen.informer.step()
    assert script.lists == []
    assert seen.informer.error == ""


def test_a_change_whose_listener_broke_is_told_again_after_the_next_list(script: Script, seen: Seen):
    script.lists += [[[pod("a", 1)]], [[pod("a", 1)]]]
    script.watches.append([])
    seen.fails = 1
    with pytest.raises(RuntimeError) as caught:
        seen.informer.step()
    seen.informer._note_fault(caught.value)
    seen.informer.step()
    assert seen.told == [("a", None, 1)]


def test_nothing_is_remembered_of_objects_that_are_gone_or_of_no_interest(script: Script, seen: Seen):
    script.lists.append([[pod("a", 1), pod("boring", 0)]])
    script.watches.append(
        [
            {"type": "DELETED", "object": pod("a", 1, 101)},
            {"type": "ADDED", "object": pod("b", 5, 102)},
            {"type": "MODIFIED", "object": pod("b", 0, 103)},
        ]
    )
    seen.informer.step()
    assert seen.informer.known() == {}
    assert seen.told == [("a", None, 1), ("a", 1, None), ("b", None, 5), ("b", 5, None)]


def test_pauses_grow_with_every_fault_and_stay_bounded(seen: Seen):
    pauses = []
    for _ in range(40):
        seen.informer._note_fault(ClusterError(500, "", "ill"))
        pauses.append(seen.informer._pause_seconds())
    assert pauses[0] <= 0.2
    assert 5.0 <= pauses[-1] <= 10.0


def test_a_closed_informer_tells_nothing_more(script: Script, seen: Seen):
    script.lists.append([[pod("a", 1)]])
    script.watches.append([])
    seen.informer.close()
    seen.informer.step()
    assert seen.told == []
