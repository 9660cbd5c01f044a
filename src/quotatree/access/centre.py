"""What may the jobs of one workspace do in one of its quotas (W3)? The scheduling centre, as a value.

`who` is "role:developer" or "user:ann". Every rule that fits an actor binds them: the strictest wins.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, NamedTuple

from quotatree.access.names import check_name
from quotatree.access.roles import SUBMITTING_ROLES, Role
from quotatree.core import HIGHEST_PRIORITY, LOWEST_PRIORITY, Module, Priorities, Refused, check_priorities


class Amount(NamedTuple):
    """A limit on the GPUs that all jobs of `who` use together at these priorities; a job that exceeds it waits (W4)."""

    who: str
    priorities: Priorities
    gpu_milli: int


class Ceiling(NamedTuple):
    """The highest priority that `who` may ask for; a higher one is refused (W4)."""

    who: str
    priority: int


class ModuleTime(NamedTuple):
    """A longest time of the jobs of one module, in ms."""

    module: Module
    ms: int


@dataclass(frozen=True, slots=True)
class Centre:
    """The rules of `workspace` in `quota`. The defaults limit nothing; times are in ms, None: no limit.

    `longest_run_of` and `longest_wait_of` are for single modules, and go before those of all.
    """

    workspace: str
    quota: str
    modules: frozenset[Module] = frozenset(Module)
    roles: frozenset[Role] = frozenset(SUBMITTING_ROLES)
    amounts: tuple[Amount, ...] = ()
    ceilings: tuple[Ceiling, ...] = ()
    longest_run_ms: int | None = None
    longest_wait_ms: int | None = None
    version: int = 0
    longest_run_of: tuple[ModuleTime, ...] = ()
    longest_wait_of: tuple[ModuleTime, ...] = ()

    def __post_init__(self) -> None:
        if not self.modules:
            raise Refused("modules", [], "W3", "must name at least one of DLC, DSW, EAS")
        if not self.roles or not self.roles <= set(SUBMITTING_ROLES):
            named = sorted(role.value for role in self.roles)
            raise Refused("roles", named, "W3", f"must name some of {_ROLES_TEXT}")
        for amount in self.amounts:
            check_who("amounts.who", amount.who)
            check_priorities("amounts.priorities", amount.priorities)
            if amount.gpu_milli < 0:
                raise Refused("amounts.gpus", amount.gpu_milli / 1000, "W3", "must not be negative")
        for ceiling in self.ceilings:
            check_who("ceilings.who", ceiling.who)
            if not LOWEST_PRIORITY <= ceiling.priority <= HIGHEST_PRIORITY:
                raise Refused("ceilings.priority", ceiling.priority, "W3", "must be 1..9")
        times = [("longest_run", self.longest_run_ms), ("longest_wait", self.longest_wait_ms)]
        times += [("longest_run", one.ms) for one in self.longest_run_of]
        times += [("longest_wait", one.ms) for one in self.longest_wait_of]
        for field, value in times:
            if value is not None and value < 1:
                raise Refused(field, value, "W3", "must be more than 0")

    def longest_run(self, module: Module) -> int | None:
        """How long a run of this module may last, in ms; None: as long as it likes."""
        return dict(self.longest_run_of).get(module, self.longest_run_ms)

    def longest_wait(self, module: Module) -> int | None:
        """How long a job of this module may wait, in ms; None: as long as it must."""
        return dict(self.longest_wait_of).get(module, self.longest_wait_ms)


_ROLES_TEXT: Final = ", ".join(role.value for role in SUBMITTING_ROLES)


def check_who(field: str, who: str) -> None:
    """Refuse a `who` that is no role or user: a rule for it would silently bind nobody."""
    kind, colon, name = who.partition(":")
    if not colon or kind not in ("role", "user"):
        raise Refused(field, who, "W3", "must be role:<role> or user:<name>")
    if kind == "user":
        check_name(field, name)
    elif name not in {role.value for role in SUBMITTING_ROLES}:
        raise Refused(field, who, "W3", f"no role that submits jobs; allowed: {_ROLES_TEXT}")
