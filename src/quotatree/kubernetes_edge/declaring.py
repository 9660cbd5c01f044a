"""What becomes of what resources declare? All that changed is applied together, in an order that works; each gets its answer.

The steps are those of `quotatree apply` (`manifest.steps`), taken inside the server: of several resources that change at once,
what shrinks goes before what grows. A refusal is that of one resource, and the others go on.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from functools import partial
from typing import Final, NamedTuple, TypeVar

from quotatree.control.commands import values as do
from quotatree.control.commands.ownership import check_owner, owner_of
from quotatree.control.errors import Unavailable, problem_of
from quotatree.control.loop import Controller
from quotatree.control.world import RESOURCES, World
from quotatree.core import QuotaId, QuotaTreeError
from quotatree.kubernetes_edge.inside import ANSWER_SECONDS, Inside
from quotatree.kubernetes_edge.resources import QUOTA, Declared, document
from quotatree.manifest.errors import WrongManifest
from quotatree.manifest.reading import Manifest, manifest_of
from quotatree.manifest.steps import Step, tenancy_steps


class Refusal(NamedTuple):
    """Why a change was not made: a code that stands in no sentence, the rule if there is one, and the text."""

    code: str
    rule: str
    text: str


T = TypeVar("T")
Answers = dict[str, Refusal | None]
"""By `Declared.of`: None for what is as it was declared."""

UNREADABLE: Final = "Unreadable"


class Declaring:
    def __init__(self, controller: Controller) -> None:
        self._controller = controller

    def apply(self, resources: Sequence[Declared], leaving: Collection[str] = ()) -> Answers:
        """Make the server what these resources say. Raises Unavailable if nothing can be written now.

        `leaving`: quotas whose resources are being deleted, which take nothing new.
        """
        answers: Answers = {one.of: self._not_ours(one) or self._too_late(one, leaving) for one in resources}
        wanted = [one for one in resources if answers[one.of] is None]
        inside = Inside(self._controller, {one.name: one.owner for one in wanted if one.kind == QUOTA})
        self._take(self._steps(inside, wanted, answers), answers)
        for one in wanted:
            if one.kind == QUOTA and answers[one.of] is None:
                answers[one.of] = _tried(partial(self._own, one))
        return answers

    def remove(self, resource: Declared) -> Refusal | None:
        """Delete what a resource declared, or give it to the API; what belongs to somebody else is left alone."""
        return _tried(partial(self._remove, resource))

    def _not_ours(self, one: Declared) -> Refusal | None:
        """Why a resource may not declare this quota, which stands in a tree of the API (E6); a root may take its tree over."""
        if one.kind != QUOTA:
            return None

        owner = self._owner(one)
        if owner == "" and one.adopt and one.said.get("parent") is None:
            return _tried(partial(self._own, one))
        if owner == "":
            return _tried(lambda: self._ask(lambda world: check_owner(world, RESOURCES, one.name)))
        return None

    def _too_late(self, one: Declared, leaving: Collection[str]) -> Refusal | None:
        """Why a resource may not be hung on a quota that is being deleted (Q6); what hangs there already stays."""
        if not leaving:
            return None

        def query(world: World) -> set[str]:
            if one.kind == QUOTA:
                return set() if QuotaId(one.name) in world.state.quotas else {str(one.said.get("parent"))}
            found = world.directory.workspaces.get(one.name)
            return set(one.said.get("quotas") or ()) - set(() if found is None else found.quotas)

        late = sorted(self._ask(query) & set(leaving))
        if not late:
            return None
        text = f"quota {late[0]} is being deleted, and takes nothing new: name another one, or make it anew first"
        return Refusal("Refused", "Q6", f"{one.kind} {one.name}: {text} [Q6]")

    def _steps(self, inside: Inside, wanted: Sequence[Declared], answers: Answers) -> list[Step]:
        """The steps to all of them. If one cannot be read, it is refused and the others are looked at one by one."""
        if not wanted:
            return []
        modes = {one.name: one.mode for one in wanted if one.kind == QUOTA}
        try:
            return tenancy_steps(inside, _manifest(wanted), modes)
        except WrongManifest as error:
            if len(wanted) == 1:
                answers[wanted[0].of] = Refusal(UNREADABLE, "", str(error))
                return []
        return [step for one in _in_order(wanted) for step in self._steps(inside, [one], answers)]

    def _take(self, steps: Sequence[Step], answers: Answers) -> None:
        for step in steps:
            if answers.get(step.of) is None:
                answers[step.of] = _tried(step.do)

    def _own(self, one: Declared) -> None:
        if self._owner(one) != one.owner:
            self._do(do.OwnQuota(actor=RESOURCES, quota=one.name, owner=one.owner))

    def _remove(self, one: Declared) -> None:
        if one.kind != QUOTA:
            if not one.keep_on_delete and self._ask(lambda world: one.name in world.directory.workspaces):
                self._do(do.DeleteWorkspace(actor=RESOURCES, workspace=one.name))
        elif self._owner(one) == one.owner:
            self._do(
                do.OwnQuota(actor=RESOURCES, quota=one.name, owner="")
                if one.keep_on_delete
                else do.DeleteQuota(actor=RESOURCES, quota=one.name)
            )

    def _owner(self, one: Declared) -> str | None:
        """The resource that owns the quota; "": the API does, None: there is no such quota."""

        def query(world: World) -> str | None:
            quota = world.state.quotas.get(QuotaId(one.name))
            return None if quota is None else owner_of(quota)

        return self._ask(query)

    def _ask(self, query: Callable[[World], T]) -> T:
        return self._controller.ask(lambda world, _: query(world)).result(ANSWER_SECONDS)

    def _do(self, command: do.Command) -> None:
        self._controller.call(command).result(ANSWER_SECONDS)


def _tried(what: Callable[[], object]) -> Refusal | None:
    """Call it; return why it was refused, None if it was not."""
    try:
        what()
    except Unavailable:
        raise
    except QuotaTreeError as error:
        return refusal_of(error)
    return None


def refusal_of(error: QuotaTreeError) -> Refusal:
    problem = problem_of(error)
    return Refusal(UNREADABLE if isinstance(error, WrongManifest) else problem.code, problem.rule, str(error))


def _manifest(wanted: Sequence[Declared]) -> Manifest:
    return manifest_of({"resources" if len(wanted) > 1 else wanted[0].of: document(wanted)})


def _in_order(wanted: Sequence[Declared]) -> list[Declared]:
    by_name = {(one.kind, one.name): one for one in wanted}
    said = document(wanted)
    return [by_name[kind[:-1], str(entry["id"])] for kind, entries in said.items() for entry in entries]
