"""`quotatree scale`, `transfer`, `return-loan`: sizes of quotas. Each shows which jobs would have
to go, and asks.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from quotatree.cli.change.changing import Manner, Step, changes_option, make
from quotatree.cli.change.room import room_hints
from quotatree.cli.number_option import NUMBER
from quotatree.cli.output import EXIT_BAD_INPUT, fail
from quotatree.cli.remote import Remote, bare, remote_options

if TYPE_CHECKING:
    from quotatree.client import types as t

mode_option = click.option(
    "--mode",
    type=click.Choice(["refuse", "lazy", "reclaim"]),
    default="refuse",
    show_default=True,
    help="If more is used than will be left: refuse, wait until it ends, or evict.",
)


@click.command()
@click.argument("quota")
@click.argument("gpus", type=NUMBER)
@click.option("--cpu", type=NUMBER, metavar="N", help="CPUs; without it, as they are.")
@click.option("--memory", metavar="AMOUNT", help="Memory, such as 64Gi; without it, as it is.")
@click.option("--pool", metavar="NAME", help="Of a root that draws from several pools: from this one.")
@mode_option
@changes_option
@remote_options
def scale(
    quota: str,
    gpus: float,
    cpu: float | None,
    memory: str | None,
    pool: str | None,
    mode: str,
    manner: Manner,
    remote: Remote,
) -> None:
    """Give QUOTA a min of GPUS (Q5); a root draws so many from its pool."""
    quota = bare(quota, "quota")
    amounts = {"gpus": gpus, "cpu": cpu, "memory": memory}
    given = {name: value for name, value in amounts.items() if value is not None}
    with remote.client() as client:
        found = client.quotas.get(quota)
        to: Any = {**scaled(found, given, pool), "mode": mode}
        step = Step(
            "quota",
            quota,
            f"scaled to {gpus:g} GPU",
            lambda: client.quotas.scale(quota, to, version=found["version"]),
            line=f"{quota} scaled to {gpus:g} GPU",
        )
        with room_hints(client, quota):
            make(client, [step], manner, [{"change": "scale", "quota": quota, **to}])


def scaled(quota: t.QuotaOut, given: dict[str, Any], pool: str | None) -> dict[str, Any]:
    """The new size of a quota: `min` of a child, `draws` of a root. Amounts that are not given stay
    as they are.
    """
    if quota["parent"] is not None:
        if pool is not None:
            fail(f"--pool: {quota['id']} has a parent, only roots draw from pools", EXIT_BAD_INPUT)
        return {"min": {**quota["min"], **given}}
    pools = list(quota["draws"])
    chosen = pool if pool is not None else pools[0] if len(pools) == 1 else None
    if chosen is None:
        fail(f"{quota['id']} draws from {', '.join(pools)}: say which with --pool", EXIT_BAD_INPUT)
    return {"draws": {**quota["draws"], chosen: {**quota["draws"].get(chosen, {}), **given}}}


@click.command()
@click.argument("source")
@click.argument("target")
@click.argument("gpus", type=NUMBER)
@mode_option
@changes_option
@remote_options
def transfer(source: str, target: str, gpus: float, mode: str, manner: Manner, remote: Remote) -> None:
    """Move GPUS from SOURCE to its sibling TARGET in one step (Q5)."""
    source, target = bare(source, "quota"), bare(target, "quota")
    what: Any = {"source": source, "target": target, "amount": {"gpus": gpus}, "mode": mode}
    with remote.client() as client:
        step = Step(
            "quota",
            target,
            f"got {gpus:g} GPU from {source}",
            lambda: client.quotas.transfer(what),
            line=f"{gpus:g} GPU from {source} to {target}",
        )
        with room_hints(client, source):
            make(client, [step], manner, [{"change": "transfer", **what}])


@click.command(name="return-loan")
@click.argument("quota")
@changes_option
@remote_options
def return_loan(quota: str, manner: Manner, remote: Remote) -> None:
    """Take QUOTA back to its min now, by evicting what it runs beyond it (P15)."""
    quota = bare(quota, "quota")
    with remote.client() as client:
        done = "goes back to its min"
        step = Step("quota", quota, done, lambda: client.quotas.return_loan(quota), line=f"{quota} {done}")
        make(client, [step], manner, [{"change": "return-loan", "quota": quota}])
