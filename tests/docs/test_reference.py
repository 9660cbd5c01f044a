"""The reference is complete: no reason, command, option, field or setting without its line."""

import re
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path

import click
import pytest

from docs import generate_reasons
from quotatree.cli import main
from quotatree.cli.commands import COMMANDS
from quotatree.core.reasons import Code
from quotatree.core.state import Settings
from quotatree.scenario.amounts import as_duration_ms
from quotatree.scenario.load import load_scenario
from quotatree.scenario.load_timeline import STEPS
from quotatree.scenario.table import Table

ROOT = Path(__file__).resolve().parents[2]
CLI_DOC = (ROOT / "docs/reference/cli.md").read_text(encoding="utf-8")
FIELDS_DOC = (ROOT / "docs/reference/fields.md").read_text(encoding="utf-8")
SCENARIO_DOC = (ROOT / "docs/reference/scenario.md").read_text(encoding="utf-8")

# Which sections of scenario.md describe the fields of which tables of a file.
SECTIONS = {
    "": "The top of the file",
    "pools": "Pools and nodes",
    "nodes": "Pools and nodes",
    "quotas": "Quotas",
    "limits": "Quotas",
    "running": "Jobs",
    "waiting": "Jobs",
    "preview": "Jobs",
    "at": "What happens: `[[at]]`",
    "expect": "What is expected: `[[expect]]`",
    "forbid": "What is forbidden: `[[forbid]]`",
}
# A step of the timeline that contains a job, a quota or a node has the fields of one.
STEP_SECTIONS = {"submit": "Jobs", "create_quota": "Quotas", "update": "Quotas", "join": "Pools and nodes"}
# Steps whose value is a name or names.
PLAIN_STEPS = {"cancel", "end", "fail", "checkpoint", "left", "resubmit", "delete_quota", "return_loan"}
# Kinds of decisions may be forbidden as well as expected, and are described once.
ALSO = {"forbid": "What is expected: `[[expect]]`"}


def section(text: str, heading: str) -> str:
    """The text below a heading, up to the next one of the same level."""
    found = re.search(
        rf"^## {re.escape(heading)}(?![\w-])[^\n]*\n(.*?)(?=^## |\Z)", text, re.MULTILINE | re.DOTALL
    )
    assert found is not None, f"no section {heading!r}"
    return found[1]


def code_words(text: str) -> set[str]:
    """The words that stand in code spans: `id`, `[[nodes]]`, `{ quota = "team", gpus = 16 }`."""
    plain = re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)
    return {word for span in re.findall(r"`([^`\n]+)`", plain) for word in re.findall(r"\w+", span)}


# -- reasons -----------------------------------------------------------------------------------------------------


def test_the_page_of_reasons_is_what_the_script_writes():
    written = generate_reasons.PAGE.read_text(encoding="utf-8")
    assert written == generate_reasons.page(), "run .venv/bin/python docs/generate_reasons.py"


def test_every_reason_stands_in_exactly_one_group():
    told = [code for codes in generate_reasons.groups().values() for code in codes]
    assert told == list(Code)


def test_a_reason_without_a_line_is_an_error(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delitem(generate_reasons.WHEN, "FitsFree")
    with pytest.raises(ValueError, match="missing \\['FitsFree'\\]"):
        generate_reasons.page()


# -- commands ----------------------------------------------------------------------------------------------------


COMMON = {"server", "token_file", "context", "no_headers", "dry_run", "yes"}
"""Parameters that are described once, before the sections."""


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_and_option_is_described_in_its_section(name: str):
    described = section(CLI_DOC, f"`quotatree {name}")
    before_the_sections = CLI_DOC.partition("\n## ")[0]
    for parameter in parameters(name):
        if parameter.help == "How to print what is done.":  # of every command that changes something
            assert "### What changes something" in before_the_sections
        elif parameter.name == "output":  # described once for all commands that have it
            assert "`-o json`" in before_the_sections
            assert f"`{name}`" in before_the_sections or "`-o" in described
        elif parameter.name in COMMON:
            assert f"`{parameter.opts[0]}" in before_the_sections
        else:
            for option in parameter.opts:
                assert f"`{option}" in described, f"{option} of {name}"


def parameters(name: str) -> Iterator[click.Option]:
    """Of the command, and of those below it; each of these is named in the section, too."""
    command = main.get_command(click.Context(main), name)
    assert command is not None
    every = command.commands.items() if isinstance(command, click.Group) else ()
    below = {word: one for word, one in every if not one.hidden}
    for word in below:
        assert f"`{name} {word}" in section(CLI_DOC, f"`quotatree {name}")
    for one in [command, *below.values()]:
        yield from (parameter for parameter in one.params if isinstance(parameter, click.Option))


# -- scenario files ----------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def known_fields() -> set[tuple[str, str]]:
    """(section, field) for every field that the loader asks for, present or not, while it reads all scenarios."""
    asked: list[tuple[str, Table]] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Table, "__init__", recording(Table.__init__, asked))
        for path in scenario_files():
            load_scenario(path)
    return {(section_of(where), name) for where, table in asked for name in table._asked}


def recording(real, asked):
    def init(self: Table, where: str, table_fields: object) -> None:
        real(self, where, table_fields)
        asked.append((where, self))

    return init


def scenario_files() -> Iterator[Path]:
    yield from sorted((ROOT / "scenarios").glob("*.toml"))


def section_of(where: str) -> str:
    """Where a table is described, from the way to it: "file.toml: [[at]] 1m, scale, scale"."""
    kind = re.search(r"\[\[(\w+)\]\]", where)
    if kind is None:
        return SECTIONS[""]
    steps = [part.split()[0] for part in where.split(", ")[1:]]
    if kind[1] == "at" and steps:
        return STEP_SECTIONS.get(steps[0], SECTIONS["at"])
    return SECTIONS[kind[1]]


def test_every_field_of_a_scenario_file_is_described_in_its_section(known_fields: set[tuple[str, str]]):
    words = {heading: code_words(section(SCENARIO_DOC, heading)) for heading in SECTIONS.values()}
    for kind, heading in ALSO.items():
        words[SECTIONS[kind]] |= words[heading]
    words["Quotas"] |= code_words(section(FIELDS_DOC, "Fields of a quota"))
    # The tables themselves are named where they are described.
    words[SECTIONS[""]] |= {kind for kind in SECTIONS if f"[[{kind}]]" in SCENARIO_DOC}
    missing = sorted((heading, name) for heading, name in known_fields if name not in words[heading])
    assert missing == []


def test_the_scenarios_use_every_table_and_step(known_fields: set[tuple[str, str]]):
    """So that the test above has seen every field."""
    text = "\n".join(path.read_text(encoding="utf-8") for path in scenario_files())
    assert {heading for heading, _ in known_fields} == set(SECTIONS.values())
    with_fields = [step for step in STEPS if step not in PLAIN_STEPS]
    unused = [step for step in with_fields if not re.search(rf"^(\[at\.)?{step}\b", text, re.MULTILINE)]
    assert unused == []


# -- settings ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("setting", fields(Settings), ids=lambda setting: setting.name)
def test_every_setting_is_described_with_its_default(setting):
    name = setting.name.removesuffix("_ms")
    row = re.search(rf'^\| `{name}` \| [^|]+ \| `"([^"]+)"` \|$', SCENARIO_DOC, re.MULTILINE)
    assert row is not None, f"{name} has no row under [settings] in scenario.md"
    assert as_duration_ms(row[1]) == setting.default
