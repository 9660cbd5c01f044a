"""`quotatree centre`: the rules of a workspace in one of its quotas, its scheduling centre (W3)."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import click

from quotatree.cli.centre_words import centre_lines
from quotatree.cli.change.changing import Manner, Step, Told, changes_option, make
from quotatree.cli.documents import read_document, yaml_text
from quotatree.cli.output import EXIT_BAD_INPUT, echo_json, echo_lines, fail
from quotatree.cli.remote import Remote, bare, remote_options

MODULES: Final = ("DLC", "DSW", "EAS")
ROLES: Final = ("owner", "admin", "operator", "developer")
RULES: Final = ("modules", "roles", "amounts", "ceilings", "longest_run", "longest_wait")
NONE: Final = "none"


@click.group()
def centre() -> None:
    """Show and set the scheduling centre of WORKSPACE in QUOTA: who may submit what there, how
    much, and for how long (W3).
    """


@centre.command()
@click.argument("workspace")
@click.argument("quota")
@click.option(
    "-o", "--output", type=click.Choice(["table", "yaml", "json"]), default="table", show_default=True,
    help="How to print it; `centre set -f` reads yaml and json.",
)  # fmt: skip
@remote_options
def show(workspace: str, quota: str, output: str, remote: Remote) -> None:
    """Print the rules of WORKSPACE in QUOTA."""
    with remote.client() as client:
        found: Any = client.workspaces.centre(bare(workspace, "workspace"), bare(quota, "quota"))
    rules = {name: found[name] for name in RULES}
    if output == "json":
        echo_json(rules)
    elif output == "yaml":
        click.echo(yaml_text(rules), nl=False)
    else:
        echo_lines(centre_lines(found))


@centre.command("set")
@click.argument("workspace")
@click.argument("quota")
@click.option(
    "-f", "--file", type=click.Path(path_type=Path), metavar="FILE",
    help="All rules, as `centre show -o yaml` prints them: YAML, TOML or JSON; - is YAML from stdin.",
)  # fmt: skip
@click.option(
    "--module", "modules", multiple=True, type=click.Choice(MODULES, case_sensitive=False),
    help="Only jobs of this module; may be repeated.",
)  # fmt: skip
@click.option(
    "--role",
    "roles",
    multiple=True,
    type=click.Choice(ROLES),
    help="Only members of this role submit; may be repeated.",
)
@click.option(
    "--amount", "amounts", multiple=True, metavar="WHO:PRIORITIES=GPUS",
    help="At most so many GPUs at once: role:developer:1-7=100, user:ann:8-9=4; none takes it away; may be repeated.",
)  # fmt: skip
@click.option(
    "--ceiling", "ceilings", multiple=True, metavar="WHO=PRIORITY",
    help="No priority above: role:developer=5, user:ann=8; none takes it away; may be repeated.",
)  # fmt: skip
@click.option(
    "--longest-run", multiple=True, metavar="[MODULE=]TIME",
    help="A run that lasts longer is stopped: 24h, or DLC=24h, which may be repeated; none takes it away.",
)  # fmt: skip
@click.option(
    "--longest-wait",
    multiple=True,
    metavar="[MODULE=]TIME",
    help="Likewise of waiting: an event for DLC, an end for DSW.",
)
@changes_option
@remote_options
def set_centre(
    workspace: str, quota: str, file: Path | None, manner: Manner, remote: Remote, **options: Any
) -> None:
    """Change the rules of WORKSPACE in QUOTA: what options name, or all of them as a file says.

    Ceilings, modules and roles bind from the next submit on; amounts and longest times bind at
    once, and it says which running jobs they would end.
    """
    where, bound = bare(workspace, "workspace"), bare(quota, "quota")
    given = {name: value for name, value in options.items() if value}
    if (file is None) == (not given):
        fail("say what changes: either by options or by a file with -f", EXIT_BAD_INPUT)
    with remote.client() as client:
        found: Any = client.workspaces.centre(where, bound)
        rules = (
            _read(file)
            if file is not None
            else {**{name: found[name] for name in RULES}, **_asked(found, given)}
        )

        def save() -> Told:
            client.workspaces.set_centre(where, bound, rules, version=found["version"])  # type: ignore[arg-type]  # a file may say anything
            return Told(lines=tuple(centre_lines(client.workspaces.centre(where, bound))))

        change = {"change": "centre", "workspace": where, "quota": bound, **rules}
        step = Step("workspace", where, f"rules in quota/{bound} changed", save)
        make(client, [step], manner, [change])


def _read(path: Path) -> dict[str, Any]:
    said = read_document(path)
    if not isinstance(said, dict):
        fail(f"{path}: must be a table of rules, such as longest_run: 24h", EXIT_BAD_INPUT)
    return said


def _asked(found: Any, given: dict[str, Any]) -> dict[str, Any]:
    """The rules that options change, with what they leave of those that are there."""
    rules: dict[str, Any] = {name: list(given[name]) for name in ("modules", "roles") if name in given}
    if "amounts" in given:
        said = [_amount(text) for text in given["amounts"]]
        named = {(one["who"], one["priorities"]) for one in said}
        kept = [one for one in found["amounts"] if (one["who"], one["priorities"]) not in named]
        rules["amounts"] = [*kept, *(one for one in said if one["gpus"] is not None)]
    if "ceilings" in given:
        limits = [_ceiling(text) for text in given["ceilings"]]
        whom = {one["who"] for one in limits}
        kept = [one for one in found["ceilings"] if one["who"] not in whom]
        rules["ceilings"] = [*kept, *(one for one in limits if one["priority"] is not None)]
    for name in ("longest_run", "longest_wait"):
        if name in given:
            rules[name] = _times(f"--{name.replace('_', '-')}", given[name], found[name])
    return rules


def _amount(text: str) -> dict[str, Any]:
    whom, _, number = text.rpartition("=")
    who, _, priorities = whom.rpartition(":")
    try:
        gpus = None if number == NONE else float(number)
    except ValueError:
        who = ""
    if not _is_who(who) or not priorities:
        fail(f"--amount {text}: must be WHO:PRIORITIES=GPUS, such as role:developer:1-7=100", EXIT_BAD_INPUT)
    return {"who": who, "priorities": priorities, "gpus": gpus}


def _ceiling(text: str) -> dict[str, Any]:
    who, _, priority = text.rpartition("=")
    if not _is_who(who) or not priority:
        fail(f"--ceiling {text}: must be WHO=PRIORITY, such as user:ann=8", EXIT_BAD_INPUT)
    number: Any = int(priority) if priority.isdecimal() else priority
    return {"who": who, "priority": None if priority == NONE else number}


def _is_who(text: str) -> bool:
    kind, _, name = text.partition(":")
    return kind in ("role", "user") and bool(name)


def _times(option: str, texts: tuple[str, ...], there: Any) -> Any:
    """One time for all modules, or one for each that is named; those of modules that are not named
    stay.
    """
    if len(texts) == 1 and "=" not in texts[0]:
        return None if texts[0] == NONE else texts[0]
    times = dict(there) if isinstance(there, dict) else dict.fromkeys(MODULES, there) if there else {}
    for text in texts:
        module, equals, time = text.partition("=")
        if not equals or module.upper() not in MODULES or not time:
            fail(
                f"{option} {text}: must be one TIME, or MODULE=TIME for each module, such as DLC=24h",
                EXIT_BAD_INPUT,
            )
        if time == NONE:
            times.pop(module.upper(), None)
        else:
            times[module.upper()] = time
    return times or None
