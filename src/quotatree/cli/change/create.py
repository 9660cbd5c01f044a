"""`quotatree create NOUN NAME`: one thing, by options. `apply` makes many of them, from a file."""

from __future__ import annotations

from functools import partial
from typing import Any, Final

import click

from quotatree.cli.change.binding import binding_steps
from quotatree.cli.change.changing import Manner, Step, Told, changes_option, make
from quotatree.cli.change.room import room_hints
from quotatree.cli.number_option import NUMBER
from quotatree.cli.output import EXIT_BAD_INPUT, fail
from quotatree.cli.place import Places
from quotatree.cli.remote import TAKEN, Remote, bare, hinted, remote_options
from quotatree.cli.sign_in.people import check_free, create_token, create_user
from quotatree.cli.sign_in.webhook import create_webhook

ROLES: Final = ("owner", "admin", "operator", "developer", "viewer")

if_not_exists = click.option(
    "--if-not-exists", is_flag=True, help="If it is there already, leave it as it is."
)


@click.group()
def create() -> None:
    """Make a quota, workspace, member, user, token, webhook, pool or node.

    `apply` makes many from a file; jobs are made by `submit`.
    """


create.add_command(create_user, "user")
create.add_command(create_token, "token")
create.add_command(create_webhook, "webhook")


@create.command()
@click.argument("name")
@click.option("--parent", metavar="QUOTA", help="The quota above it; without one it is a root.")
@click.option("--gpus", type=NUMBER, metavar="N", help="Its min: guarantee and cap of its regular work.")
@click.option(
    "--cpu", type=NUMBER, metavar="N", help="Its min of CPUs; without it, bounded by the quotas above."
)
@click.option("--memory", metavar="AMOUNT", help="Its min of memory, such as 512Gi; likewise.")
@click.option(
    "--draw",
    "draws",
    multiple=True,
    metavar="POOL=GPUS",
    help="A root takes so many GPUs from this pool; may be repeated.",
)
@click.option("--reserved", type=NUMBER, metavar="N", help="So many GPUs of its min are never lent or taken.")
@click.option("--description", default="", metavar="TEXT", help="What it is for.")
@click.option(
    "--workspace",
    "workspaces",
    multiple=True,
    metavar="NAME",
    help="Bind it to this workspace; may be repeated.",
)
@if_not_exists
@changes_option
@remote_options
def quota(
    name: str,
    parent: str | None,
    draws: tuple[str, ...],
    workspaces: tuple[str, ...],
    if_not_exists: bool,
    manner: Manner,
    remote: Remote,
    **options: Any,
) -> None:
    """Make the quota NAME: a child with --parent and --gpus, or a root with --draw (Q1).

    Its policies are set by `policy`, its size is changed by `scale`.
    """
    body = _quota(name, parent, draws, **options)
    with remote.client() as client:
        for one in workspaces:  # looked up first: a refused binding would leave a quota that nothing can use
            client.workspaces.get(bare(one, "workspace"))
        steps, changes = [], []
        if if_not_exists and name in {one["id"] for one in client.quotas.list()}:
            steps.append(_is_there("quota", name))
        else:
            steps.append(Step("quota", name, "created", lambda: client.quotas.create(body)))  # type: ignore[arg-type]  # its fields stand in a dictionary of options
            changes.append({"change": "create-quota", "quota": body})
        for one in workspaces:
            steps += binding_steps(client, bare(one, "workspace"), (name,), is_new=True)
        hint = f"quotatree scale {name} changes its size, --if-not-exists leaves it as it is"
        with hinted(TAKEN, hint), room_hints(client, name):
            make(client, steps, manner, changes)


def _is_there(noun: str, name: str) -> Step:
    return Step(noun, name, "is there already", lambda: None)


def _quota(
    name: str,
    parent: str | None,
    draws: tuple[str, ...],
    gpus: float | None,
    cpu: float | None,
    memory: str | None,
    reserved: float | None,
    description: str,
) -> dict[str, Any]:
    """The body of the request. Options that contradict each other end the command."""
    if (parent is None) == (not draws):
        fail(
            f"{name}: a child needs --parent, a root --draw POOL=GPUS, and none has both; `quotatree get pools` lists pools",
            EXIT_BAD_INPUT,
        )
    sizes = {"gpus": gpus, "cpu": cpu, "memory": memory}
    size = {unit: amount for unit, amount in sizes.items() if amount is not None}
    if draws and size:
        fail(f"{name}: a root's size is what it draws: say it with --draw alone", EXIT_BAD_INPUT)
    body: dict[str, Any] = {"id": name, "description": description}
    if parent is not None:
        body |= {"parent": bare(parent, "quota"), **({"min": size} if size else {})}
    else:
        body["draws"] = {pool: {"gpus": amount} for pool, amount in map(_draw, draws)}
    return body if reserved is None else {**body, "reserved": {"gpus": reserved}}


def _draw(text: str) -> tuple[str, float]:
    pool, equals, number = text.partition("=")
    try:
        amount = float(number)
    except ValueError:
        amount = -1
    if not equals or not pool or amount < 0:
        fail(f"--draw {text}: must be POOL=GPUS, such as default=64", EXIT_BAD_INPUT)
    return pool, amount


@create.command()
@click.argument("name")
@click.option("--owner", "owners", multiple=True, metavar="USER", help="An owner; may be repeated.")
@click.option(
    "--quota", "quotas", multiple=True, metavar="QUOTA", help="Bind this quota to it; may be repeated."
)
@click.option("--description", default="", metavar="TEXT", help="What it is for.")
@if_not_exists
@changes_option
@remote_options
def workspace(
    name: str,
    owners: tuple[str, ...],
    quotas: tuple[str, ...],
    description: str,
    if_not_exists: bool,
    manner: Manner,
    remote: Remote,
) -> None:
    """Make the workspace NAME. Its jobs may name the quotas that are bound to it (W1)."""
    with remote.client() as client:
        for one in quotas:
            client.quotas.get(bare(one, "quota"))
        users = [bare(one, "user") for one in owners]

        def do() -> Told:
            done: Any = client.workspaces.create({"id": name, "description": description, "owners": users})
            return Told(notices=(f"notice: {done['notice']}",) if done.get("notice") else ())

        there = name in {one["id"] for one in client.workspaces.list()}
        if there and if_not_exists:
            made = _is_there("workspace", name)
        else:
            made = Step("workspace", name, "created", do, check=partial(check_free, "workspace", name, there))
        with hinted(TAKEN, "--if-not-exists leaves it as it is"):
            make(client, [made, *binding_steps(client, name, quotas, is_new=True)], manner)
        if not manner.dry_run and not client.workspaces.get(name)["quotas"]:
            click.echo(f"it can submit once it has a quota: quotatree bind {name} QUOTA", err=True)


@create.command()
@click.argument("user")
@click.option(
    "--workspace",
    envvar="QUOTATREE_WORKSPACE",
    metavar="NAME",
    help="Of this workspace; else the one that is remembered, or the only one.",
)
@click.option(
    "--role", type=click.Choice(ROLES), default="developer", show_default=True, help="With this role."
)
@changes_option
@remote_options
def member(user: str, workspace: str | None, role: str, manner: Manner, remote: Remote) -> None:
    """Make USER a member of a workspace; a member may have several roles. Doing it twice changes
    nothing.
    """
    name = bare(user, "user")
    with remote.client() as client, hinted(("no user",), f"make them first: quotatree create user {name}"):
        where = bare(workspace or Places(client, remote.target()).workspace(), "workspace")
        step = Step(
            "user",
            name,
            f"is {role} of workspace/{where}",
            lambda: client.workspaces.add_member(where, name, role),
            check=lambda: client.workspaces.get(where),
        )
        make(client, [step], manner)


@create.command()
@click.argument("name")
@click.option("--mixed", is_flag=True, help="It may have nodes of several GPU models (R4).")
@if_not_exists
@changes_option
@remote_options
def pool(name: str, mixed: bool, if_not_exists: bool, manner: Manner, remote: Remote) -> None:
    """Declare the pool NAME. A pool is also made by its first node; a root quota draws from it."""
    with remote.client() as client:
        there = name in {one["name"] for one in client.pools.list()}
        made = Step(
            "pool",
            name,
            "created",
            lambda: client.pools.declare({"name": name, "mixed": mixed}),
            check=partial(check_free, "pool", name, there),
        )
        with hinted(TAKEN, "--if-not-exists leaves it as it is"):
            make(client, [_is_there("pool", name) if there and if_not_exists else made], manner)


@create.command()
@click.argument("name")
@click.option("--pool", default="default", show_default=True, metavar="NAME", help="It joins this pool.")
@click.option(
    "--gpus",
    type=click.IntRange(0, 64),
    default=8,
    show_default=True,
    metavar="N",
    help="How many GPUs it has.",
)
@click.option("--model", default="GPU", show_default=True, metavar="NAME", help="Which.")
@click.option("--cpu", type=NUMBER, metavar="N", help="How many CPUs; 128 if not said.")
@click.option("--memory", metavar="AMOUNT", help="How much memory; 1024Gi if not said.")
@click.option(
    "--label", "labels", multiple=True, metavar="KEY=VALUE", help="Such as rack=r1; may be repeated."
)
@if_not_exists
@changes_option
@remote_options
def node(
    name: str,
    labels: tuple[str, ...],
    if_not_exists: bool,
    manner: Manner,
    remote: Remote,
    **options: Any,
) -> None:
    """Let the node NAME join its pool, ready. Nodes of a cluster engine join by themselves."""
    said = {key: value for key, value in options.items() if value is not None}
    body: Any = {"name": name, **said, "labels": dict(map(_label, labels))}
    with remote.client() as client:
        if if_not_exists and name in {one["name"] for one in client.nodes.list()}:
            make(client, [_is_there("node", name)], manner)
            return
        step = Step("node", name, "created", lambda: client.nodes.join(body))
        make(client, [step], manner, [{"change": "join-node", "node": body}])


def _label(text: str) -> tuple[str, str]:
    key, equals, value = text.partition("=")
    if not equals or not key:
        fail(f"--label {text}: must be KEY=VALUE, such as rack=r1", EXIT_BAD_INPUT)
    return key, value
