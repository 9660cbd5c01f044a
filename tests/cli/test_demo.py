"""The demo is the first thing people see: it shows what it promises, or fails, and leaves nothing behind."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from io import StringIO
from pathlib import Path
from time import monotonic, sleep
from unittest.mock import Mock

import pytest
from rich.console import Console

from quotatree.cli.demo.command import links
from quotatree.cli.demo.telling import Teller

pytestmark = pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="real processes are run on Linux only"
)

ACTS = (
    "fill 48 + 80 GPUs",
    "one job more",
    "Ada deploys",
    "only its own",
    "stops a notebook",
    "moves 8 GPUs",
    "Ada ends the service",
)


def demo(directory: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "quotatree", "demo", "--script", "--directory", str(directory)],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env={**os.environ, "LC_ALL": "C.UTF-8", "PYTHONUNBUFFERED": "1"},
    )


@pytest.mark.slow
def test_the_demo_shows_everything(tmp_path: Path):
    playing = demo(tmp_path / "demo")
    printed = playing.communicate(timeout=240)[0]
    assert playing.returncode == 0, printed
    for act in ACTS:
        assert act in printed
    assert "✗" not in printed
    assert left_behind(tmp_path / "demo") == []
    assert not (tmp_path / "demo").exists()


@pytest.mark.slow
def test_an_interrupted_demo_cleans_up(tmp_path: Path):
    playing = demo(tmp_path / "demo")
    until = monotonic() + 120
    while not any((tmp_path / "demo" / "data").glob("*/jobs/*/runs/*/journal")) and monotonic() < until:
        sleep(0.02)
    assert left_behind(tmp_path / "demo"), "something ran"
    playing.send_signal(signal.SIGINT)
    printed = playing.communicate(timeout=120)[0]
    assert playing.returncode == 130, printed
    assert left_behind(tmp_path / "demo") == []
    assert not (tmp_path / "demo").exists()


def test_what_was_expected_and_not_seen_is_counted(capsys: pytest.CaptureFixture[str]):
    tell = Teller()
    tell.expect(True, "the sun rises")
    tell.expect(False, "pigs fly")
    assert tell.checks == 2
    assert tell.missed == ["pigs fly"]
    assert "not seen: pigs fly" in capsys.readouterr().out


def test_everybody_gets_a_link_to_the_console():
    stage = Mock(url="http://127.0.0.1:1", tokens={"admin": Path("a"), "bob": Path("b")})
    stage.client.side_effect = lambda user: Mock(
        **{"logins.link.return_value": {"path": f"/login#link={user}-code"}}
    )
    assert links(stage) == [
        "http://127.0.0.1:1/login#link=admin-code  # admin",
        "http://127.0.0.1:1/login#link=bob-code  # bob",
    ]


def test_nothing_is_broken_at_80_columns(monkeypatch: pytest.MonkeyPatch):
    """Sentences go on below their beginning, bars give way, and what is to be copied stays one line."""
    shown = Console(file=StringIO(), force_terminal=True, width=80, highlight=False, no_color=True)
    monkeypatch.setattr("quotatree.cli.demo.telling.console", lambda: shown)
    tell = Teller()
    tell.act("Ada deploys an inference service, 2 x 8 GPUs, on Quota1 itself. Somebody has to go")
    tell.expect(
        True, "the cheapest two of priority 1 went, who had saved last: sweep-a and scratch; one was spared"
    )
    usage = {
        "desired": 128,
        "actual": 128,
        "used_own": 16,
        "used_below": 40,
        "squeezed": 8,
        "queued": 16,
        "loan": 8,
    }
    amounts = {name: {"gpus": usage.get(name, 0)} for name in (*usage, "shortfall", "idle_borrowed")}
    tell.tree([{"id": "Quota1", "parent": None, "usage": amounts}], "the tree")
    command = "export " + "X" * 100
    tell.command(command)
    assert isinstance(shown.file, StringIO)
    lines = re.sub("\x1b[^m]*m", "", shown.file.getvalue()).splitlines()
    assert "  " + command in lines
    assert [line for line in lines if len(line) > 80 and command not in line] == []
    assert "…" not in "".join(lines)
    assert "    scratch; one was spared" in lines
    assert any(line.startswith("Quota1  ") and line.endswith("queued 16") for line in lines)


def test_a_directory_that_is_there_is_not_touched(tmp_path: Path):
    playing = demo(tmp_path)
    assert "is there already" in playing.communicate(timeout=60)[0]
    assert playing.returncode == 2
    assert tmp_path.exists()


def left_behind(directory: Path) -> list[str]:
    """Processes that name the demo's directory: the server, supervisors, proxies, jobs."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            told = (process / "cmdline").read_bytes() + (process / "environ").read_bytes()
        except OSError:
            continue
        if str(directory).encode() in told and int(process.name) != os.getpid():
            text = (process / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
            if " demo --script" not in text:
                found.append(text)
    return found
