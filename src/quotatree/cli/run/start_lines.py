"""What does a server say when it starts? Where it answers, what runs jobs and how far they are kept
apart, where data and log are, who leads.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import TimeoutError as TooLate
from typing import TYPE_CHECKING, Final

from quotatree import __version__

if TYPE_CHECKING:
    from quotatree.api.settings import ServerSettings
    from quotatree.control.world import World
    from quotatree.server.assembly import Server

PATIENCE_SECONDS: Final = 5.0


def start_lines(server: Server, settings: ServerSettings, store_url: str) -> Iterator[str]:
    yield f"quotatree {__version__}"
    yield f"  address    {server.address}"
    yield f"  console    {_console(server.address)}"
    yield f"  engine     {server.engine.capabilities.name}{_nodes(server)}"
    yield f"  isolation  {_isolation(server)}"
    yield f"  store      {store_url}"
    yield f"  leader     {_leader(server)}"
    yield f"  log        {settings.log_file or 'stderr'}"


def _console(address: str) -> str:
    from quotatree.api.console_files import BUILT_INTO, HOW_TO_BUILD

    return f"{address}/" if (BUILT_INTO / "index.html").is_file() else HOW_TO_BUILD


def _nodes(server: Server) -> str:
    """How many nodes and GPUs there are, as far as it can be told by now."""
    from quotatree.control.inventory import present
    from quotatree.core import QuotaTreeError

    def count(world: World, now_ms: int) -> tuple[int, int]:
        del now_ms
        there = present(world.state.nodes)
        return len(there), sum(node.spec.gpus for node in there)

    try:
        nodes, gpus = server.controller.ask(count).result(PATIENCE_SECONDS)
    except (QuotaTreeError, TooLate):
        return ""
    return f", {nodes} node(s) with {gpus} GPU" if nodes else ", no node yet"


def _isolation(server: Server) -> str:
    can = server.engine.capabilities
    if can.name == "timer":
        return "no program runs: jobs are timers"
    if can.name == "kubernetes":
        return "as the cluster keeps pods apart"
    return (
        "one team: jobs of all workspaces run as one user"
        if can.one_team
        else "a unix user for each workspace"
    )


def _leader(server: Server) -> str:
    if server.stands_by:
        return f"no, stands by: {server.controller.leader or 'another server'} leads; it answers questions meanwhile"
    if server.waits_for_older:
        return f"no, stands by: {server.controller.leader or 'another server'} leads with tables of an older version"
    if server.runs_elsewhere:
        return f"no: {server.runs_elsewhere}"
    return "yes" if server.controller.health.writable else f"not yet: {server.controller.health.mode.value}"
