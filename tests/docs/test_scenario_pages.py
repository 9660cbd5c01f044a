"""The documents tell the truth: every word of the format is described, and what they show is what one gets."""

import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from quotatree.cli import main
from quotatree.core.reasons import Step
from quotatree.scenario.expect import FIGURES, WORDS
from quotatree.scenario.kinds import KINDS, step_word
from quotatree.scenario.load_timeline import STEPS

ROOT = Path(__file__).resolve().parents[2]
SCENARIO_DOC = (ROOT / "docs/reference/scenario.md").read_text(encoding="utf-8")
CLI_DOC = (ROOT / "docs/reference/cli.md").read_text(encoding="utf-8")
TUTORIAL = (ROOT / "docs/tutorial/first-tree.md").read_text(encoding="utf-8")
HOW_TO = (ROOT / "docs/how-to/write-a-scenario.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("word", [*WORDS, *KINDS, *FIGURES, *STEPS, *(step_word(step) for step in Step)])
def test_every_word_of_the_format_is_described(word: str):
    assert f"`{word}`" in SCENARIO_DOC


def blocks(text: str, language: str) -> list[str]:
    found = re.findall(r"^```(\w*)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    return [block for of, block in found if of == language]


def output_of(command: str) -> str:
    """What a `quotatree …` line prints, in the current directory."""
    return CliRunner().invoke(main, command.split()[1:]).output


def shown(text: str) -> list[tuple[str, str]]:
    """Commands and what the document says they print."""
    found = []
    for block in blocks(text, ""):
        command, _, output = block.partition("\n")
        found.append((command.removeprefix("$ "), output))
    return found


def same_lines(output: str, expected: str) -> bool:
    return [line.rstrip() for line in output.splitlines()] == [
        line.rstrip() for line in expected.splitlines()
    ]


def test_the_tutorial_shows_what_one_gets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    tree, submit, policy, expectations = blocks(TUTORIAL, "toml")
    with_job = tree + submit
    with_policy = with_job.replace('[[quotas]]\nid = "company"\ngpus = 16\n', policy)
    with_expectations = with_policy + expectations
    states = [tree, with_job, with_policy, with_policy, with_expectations]
    commands = shown(TUTORIAL)
    assert len(commands) == len(states)
    for (command, expected), state in zip(commands, states, strict=True):
        Path("first.toml").write_text(state, encoding="utf-8")
        output = output_of(command)
        if "explain" in command:
            assert output.startswith(expected)
        else:
            assert same_lines(output, expected)
    Path("first.toml").write_text(with_expectations.replace("priority = 2", "priority = 4"), encoding="utf-8")
    assert "FAILED" in output_of("quotatree check first.toml")


def test_the_how_to_shows_what_one_gets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    [(command, expected)] = shown(HOW_TO)
    Path("report.toml").write_text("\n".join(blocks(HOW_TO, "toml")), encoding="utf-8")
    assert same_lines(output_of(command), expected)


def test_the_reference_of_the_command_line_shows_what_one_gets(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)
    Path("scenarios").symlink_to(ROOT / "scenarios")
    [policy] = blocks(CLI_DOC, "toml")
    Path("policy.toml").write_text(policy, encoding="utf-8")
    for command, expected in shown(CLI_DOC):
        output = output_of(command)
        assert same_lines("\n".join(output.splitlines()[-len(expected.splitlines()) :]), expected)
