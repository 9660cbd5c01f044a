"""How the demo speaks: acts, what happens as it happens, the tree, and what was expected."""

from __future__ import annotations

import time
from textwrap import wrap
from typing import TYPE_CHECKING, Any, Final

from rich.text import Text

from quotatree.cli.look.tree import figures
from quotatree.cli.terminal import console, print_tree

if TYPE_CHECKING:
    from quotatree.client import types as t

NARROWEST: Final = 20
STYLES: Final = {
    "job.evicted": "red", "job.promised": "cyan", "job.started": "green", "job.stopping": "yellow", "job.ended": "yellow",
}  # fmt: skip
WORDS: Final = {
    "job.evicted": "evict", "job.promised": "hold", "job.started": "start", "job.stopping": "stop", "job.ended": "end",
}  # fmt: skip


class Teller:
    """Prints, and remembers what was not as expected."""

    def __init__(self) -> None:
        self._out = console()
        self._began = time.monotonic()
        self._acts = 0
        self.names: dict[str, str] = {}
        self.checks = 0
        self.missed: list[str] = []

    @property
    def seconds(self) -> float:
        return time.monotonic() - self._began

    def act(self, title: str) -> None:
        self._acts += 1
        self._out.print()
        *above, last = self._wrapped(f"{self._acts}. {title}", 0)
        for line in above:
            self._out.print(Text(line, style="bold"))
        self._out.rule(Text(last, style="bold"), align="left")

    def say(self, text: str) -> None:
        self._print(Text("  "), text)

    def command(self, line: str) -> None:
        """Print a line to be copied, without ever breaking it."""
        self._out.print(Text("  " + line), soft_wrap=True)

    def quote(self, text: str) -> None:
        for line in text.splitlines():
            self._print(Text("    "), self._named(line), "dim")

    def expect(self, seen: bool, what: str) -> None:
        self.checks += 1
        if seen:
            self._print(Text("  ✓ ", style="green"), what)
        else:
            self.missed.append(what)
            self._print(Text("  ✗ not seen: ", style="bold red"), what)

    def event(self, event: t.EventOut) -> None:
        if event["kind"] not in WORDS:
            return
        name = self.names.get(event["job"] or "", event["job"] or "")
        line = Text(f"  {self.seconds:5.1f} s  ", style="dim")
        line.append(f"{WORDS[event['kind']]:<8}", style=STYLES[event["kind"]])
        self._print(line.append(f"{name:<12}", style="default"), self._named(_details(event)))

    def tree(self, quotas: Any, title: str) -> None:
        self._out.print()
        print_tree(self._out, figures(quotas), "  " + title)

    def _print(self, before: Text, text: str, style: str = "default") -> None:
        """Print text behind `before`; what does not fit on a line goes on below the text, not below
        `before`.
        """
        indent = len(before)
        for line in self._wrapped(text, indent):
            self._out.print(before.append(line, style=style))
            before = Text(" " * indent)

    def _wrapped(self, text: str, indent: int) -> list[str]:
        if not self._out.is_terminal:
            return [text]
        room = max(NARROWEST, self._out.width - indent - 1)
        return wrap(text, room, break_long_words=False, break_on_hyphens=False) or [""]

    def _named(self, text: str) -> str:
        for job_id, name in self.names.items():
            text = text.replace(job_id, name)
        return text


def _details(event: t.EventOut) -> str:
    body = event["body"]
    parts = []
    if event["kind"] == "job.evicted":
        parts.append(
            f"loses {body['lost_gpu_seconds']:,.0f} GPU-s, has {body['grace_ms'] / 1000:g} s to leave"
        )
        parts.append("is queued again" if body["requeued"] else "is stopped, its state kept")
    if event["kind"] == "job.ended":
        parts.append(f"{body['phase']} {body['detail']}".strip())
    told = "; ".join(parts)
    return f"{told} [{body['reason']}]".lstrip() if body.get("reason") else told
