"""Every command has help, and `--help` imports none of them."""

import subprocess
import sys

import pytest

from quotatree.cli import COMMANDS, SHORT
from tests.cli.try_out.story import run


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help(command: str):
    result = run(command, "--help")
    assert result.exit_code == 0
    assert "Usage:" in result.output


def test_help_lists_the_commands_without_importing_them():
    code = (
        "import sys; from quotatree.cli import main\n"
        "try: main(['--help'])\n"
        "except SystemExit: pass\n"
        "print([m for m in sys.modules if m.startswith(('quotatree.core', 'quotatree.scenario', 'rich'))])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    for command in COMMANDS:
        assert f"  {command} " in done.stdout
    assert done.stdout.splitlines()[-1] == "[]"


def test_an_unknown_command_is_a_usage_error():
    assert run("dance").exit_code == 2


@pytest.mark.parametrize("word", SHORT)
def test_other_words_for_commands_lead_to_them(word: str):
    """`quotatree ps` is `quotatree get jobs`."""
    assert run(word, "--help").output == run(*SHORT[word], "--help").output
    assert word not in COMMANDS
