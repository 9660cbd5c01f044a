"""The help: one screen that lists every command once, without importing any."""

import subprocess
import sys

import click
import pytest

from quotatree.cli import main
from quotatree.cli.commands import COMMANDS, EVERY_DAY, GROUPS, HELP, HIDDEN, OTHER_WORDS
from tests.cli.try_out.story import run


@pytest.mark.parametrize("command", [*COMMANDS, *HIDDEN])
def test_every_command_has_help(command: str):
    result = run(command, "--help")
    assert result.exit_code == 0
    assert "Usage:" in result.output
    assert run("help", command).output == result.output


def test_help_lists_the_commands_without_importing_them():
    code = (
        "import sys; from quotatree.cli import main\n"
        "try: main(['--help'])\n"
        "except SystemExit: pass\n"
        "print([m for m in sys.modules if m.startswith(('quotatree.core', 'quotatree.scenario', 'rich'))])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


@pytest.mark.parametrize("program", ["quotatree", "kubectl quotatree"])
def test_help_is_one_screen_with_every_command_once(program: str):
    """24 lines of 80 columns: the twelve commands of every day, then the others by group."""
    with click.Context(main, info_name=program) as context:
        lines = main.get_help(context).splitlines()
    assert len(lines) <= 24
    assert max(map(len, lines)) <= 80
    assert len(EVERY_DAY) == 12
    words = " ".join(line for line in lines if line.startswith("  ")).split()
    assert [name for name in COMMANDS if name not in HELP and name not in words] == []
    older = {*HIDDEN, *OTHER_WORDS} - {*GROUPS}
    assert [line for line in lines if line.startswith(tuple(f"  {name} " for name in older))] == []
    assert set(EVERY_DAY).isdisjoint(name for group in GROUPS.values() for name in group)


@pytest.mark.parametrize("group", GROUPS)
def test_help_of_a_group_has_a_line_for_each_of_its_commands(group: str):
    lines = run("help", group).output.splitlines()
    assert [line.split()[0] for line in lines] == list(GROUPS[group])
    assert max(map(len, lines)) <= 100


def test_help_tells_the_exit_status_and_what_it_does_not_know():
    assert "4    no rights" in run("help", "exit-status").output
    refused = run("help", "dances")
    assert refused.exit_code == 2
    assert "there are the groups jobs, look" in refused.stderr


def test_stop_hold_and_cancel_say_how_they_differ():
    for command, *words in (
        ("hold", "waiting jobs", "release", "stop"), ("stop", "running", "start"), ("cancel", "for good"),
    ):  # fmt: skip
        first = run(command, "--help").output.split("\n\n")[1]
        assert all(word in first for word in words), first


def test_an_unknown_command_is_a_usage_error():
    assert run("dance").exit_code == 2


@pytest.mark.parametrize("word", OTHER_WORDS)
def test_other_words_for_commands_lead_to_them(word: str):
    """`quotatree ps` is `quotatree get jobs`."""
    assert run(word, "--help").output == run(*OTHER_WORDS[word], "--help").output
    assert word not in COMMANDS
