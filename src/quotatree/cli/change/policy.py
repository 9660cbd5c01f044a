"""`quotatree policy`: the strategy, the preemption policies and the lending of one quota, switched,
set, shown; also in PAI's spelling.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from quotatree.cli.change.changing import Manner, Step, Told, changes_option, make
from quotatree.cli.documents import yaml_text
from quotatree.cli.output import EXIT_BAD_INPUT, echo_json, echo_lines, fail
from quotatree.cli.policy_words import child_level_words, self_level_words
from quotatree.cli.remote import Remote, bare, remote_options

if TYPE_CHECKING:
    from quotatree.client import Client
    from quotatree.client import types as t

SWITCHES: Final = ("child-level", "self-level", "lending")
MODULES: Final = ("DLC", "DSW", "EAS")
STRATEGIES: Final = ("fifo", "traverse", "balance", "intelligent")


@click.group()
def policy() -> None:
    """Show, switch and set a quota's strategy, preemption policies and lending. `policies` is the
    same command.
    """


@policy.command()
@click.argument("quota")
@click.option("--pai", is_flag=True, help="In the spelling of Alibaba Cloud PAI.")
@click.option(
    "-o", "--output", type=click.Choice(["yaml", "json"]), default="yaml", show_default=True,
    help="How to print it.",
)  # fmt: skip
@remote_options
def show(quota: str, pai: bool, output: str, remote: Remote) -> None:
    """Print the policies of QUOTA, so that `policy set` can read them.

    PAI has no word for some of what our policies can say; such a quota is refused with --pai.
    """
    name = bare(quota, "quota")
    with remote.client() as client:
        found: Any = client.quotas.pai_policies(name) if pai else client.quotas.policies(name)
        written = {key: value for key, value in found.items() if key not in ("quota", "version")}
        names = client.quotas.get(name)["priority_names"]
    if output == "json":
        echo_json(written)
        return
    # as a comment, so that `policy set` can read what is printed
    echo_lines(f"# {priority} is {called}" for called, priority in names.items())
    click.echo(yaml_text(written), nl=False)


@policy.command()
@click.argument("quota")
@click.argument("switches", nargs=-1, required=True, type=click.Choice(SWITCHES), metavar="POLICY...")
@changes_option
@remote_options
def on(quota: str, switches: tuple[str, ...], manner: Manner, remote: Remote) -> None:
    """Switch policies of QUOTA on: child-level, self-level, lending. They have the settings they
    had.

    Without settings, child-level is 1-9 and self-level is 6-9 over 1-5, both of DLC and DSW.
    """
    _switch(remote, bare(quota, "quota"), switches, True, manner)


@policy.command()
@click.argument("quota")
@click.argument("switches", nargs=-1, required=True, type=click.Choice(SWITCHES), metavar="POLICY...")
@changes_option
@remote_options
def off(quota: str, switches: tuple[str, ...], manner: Manner, remote: Remote) -> None:
    """Switch policies of QUOTA off: child-level, self-level, lending. Their settings are kept."""
    _switch(remote, bare(quota, "quota"), switches, False, manner)


def _switch(remote: Remote, quota: str, switches: tuple[str, ...], wanted: bool, manner: Manner) -> None:
    to: dict[str, Any] = {one.replace("-", "_"): wanted for one in switches}
    with remote.client() as client:
        _change(client, quota, to, manner)


@policy.command("set")
@click.argument("quota", required=False)
@click.option(
    "-f", "--file", type=click.Path(path_type=Path), metavar="FILE",
    help="What changes, in either spelling: YAML, TOML or JSON; - is YAML from stdin.",
)  # fmt: skip
@click.option(
    "--strategy", type=click.Choice(STRATEGIES), help="How its queue goes on when its head is blocked."
)
@click.option(
    "--child-level", metavar="PRIORITIES", help="Its waiting jobs may take such jobs of quotas below: 1-3."
)
@click.option(
    "--self-level",
    metavar="HIGH:LOW",
    help="Waiting jobs may take lower ones: 6-9:1-5, or any for any lower.",
)
@click.option(
    "--module", "modules", multiple=True, type=click.Choice(MODULES, case_sensitive=False),
    help="Only jobs of this module may be taken by these policies; may be repeated.",
)  # fmt: skip
@click.option(
    "--scope",
    type=click.Choice(["own", "siblings", "level"]),
    help="With --self-level: where it may take them.",
)
@click.option(
    "--lending/--no-lending", default=None, help="Lend what is unused to idle jobs of others, or not."
)
@changes_option
@remote_options
def set_policies(
    quota: str | None,
    file: Path | None,
    modules: tuple[str, ...],
    manner: Manner,
    remote: Remote,
    **options: Any,
) -> None:
    """Change what is named about the policies of QUOTA, by options or as a file says; the rest
    stays.

    The file may say its `quota` itself; `preview --policy` takes the same file. Shows which running
    work becomes exposed, and asks.
    """
    from quotatree.cli.change.policy_file import PolicyChange, read_policy_file

    given = {name: value for name, value in options.items() if value is not None}
    if file is not None and (given or modules):
        fail("either a file or options: put everything into the file", EXIT_BAD_INPUT)
    if file is None and not given:
        fail("nothing to set: use -f, --strategy, --child-level, --self-level or --lending", EXIT_BAD_INPUT)
    name = None if quota is None else bare(quota, "quota")
    if file is None and name is None:
        fail("which quota? Name it first: quotatree policy set QUOTA …", EXIT_BAD_INPUT)
    with remote.client() as client:
        if file is not None:
            wanted = read_policy_file(file, name)
        else:
            assert name is not None
            wanted = PolicyChange(name, _asked(client.quotas.get(name), given, modules))
        _change(client, wanted.quota, wanted.to, manner)


def _asked(quota: t.QuotaOut, given: dict[str, Any], modules: tuple[str, ...]) -> dict[str, Any]:
    """The change that options ask for. Of a policy that is there, what they do not name stays, its
    switch too.
    """
    to: dict[str, Any] = {name: given[name] for name in ("strategy", "lending") if name in given}
    if "scope" in given and "self_level" not in given:
        fail("--scope: only with --self-level", EXIT_BAD_INPUT)
    if modules and not {"self_level", "child_level"} & set(given):
        fail("--module: only with --child-level or --self-level", EXIT_BAD_INPUT)
    more = {"modules": list(modules)} if modules else {}
    if "child_level" in given:
        to["child_level"] = {**_kept(quota["child_level"]), "priorities": given["child_level"], **more}
    if "self_level" in given:
        there = quota["self_level"]
        if len(there) > 1:
            fail(
                f"{quota['id']} has {len(there)} self-level policies: set them by a file, with -f",
                EXIT_BAD_INPUT,
            )
        scope = {"scope": given["scope"]} if "scope" in given else {}
        to["self_level"] = {
            **_kept(there[0] if there else None),
            **_pair(given["self_level"]),
            **more,
            **scope,
        }
    return to


def _kept(policy: Any) -> dict[str, Any]:
    """What stays of a policy whose priorities change."""
    kept = ("modules", "scope", "enabled")
    return {} if policy is None else {name: value for name, value in policy.items() if name in kept}


def _pair(text: str) -> dict[str, str]:
    if text == "any":
        return {"any": "lower"}
    high, colon, low = text.partition(":")
    if not colon or not high or not low:
        fail(f"--self-level {text}: must be HIGH:LOW, such as 6-9:1-5, or any", EXIT_BAD_INPUT)
    return {"high": high, "low": low}


def _change(client: Client, quota: str, to: dict[str, Any], manner: Manner) -> None:
    version = client.quotas.get(quota)["version"]
    change = {"change": "update-quota", "quota": quota, "to": to}

    def save() -> Told:
        client.quotas.update(quota, to, version=version)  # type: ignore[arg-type]  # a file may say anything
        return Told(lines=tuple(_now(client.quotas.get(quota))))

    make(client, [Step("quota", quota, "policies changed", save)], manner, [change])


def _now(quota: t.QuotaOut) -> list[str]:
    names = quota["priority_names"]
    return [
        f"policy of {quota['id']}: strategy {quota['strategy']}, lending {'on' if quota['lending'] else 'off'}",
        f"  child-level {child_level_words(quota['child_level'], names)}",
        f"  self-level {self_level_words(quota['self_level'], names)}",
    ]
