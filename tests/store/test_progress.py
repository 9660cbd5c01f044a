"""What takes long says how far it is, again and again, and is silent when it is over."""

from __future__ import annotations

import threading

from quotatree.store.progress import Progress


def test_what_takes_long_says_how_far_it_is() -> None:
    said: list[str] = []
    heard = threading.Event()

    def say(line: str) -> None:
        said.append(line)
        if line.endswith("s, 120,000 of 300,000"):
            heard.set()

    with Progress(say, every_seconds=0.001) as progress:
        progress.begin("migrating")
        progress.is_at(120_000, 300_000)
        assert heard.wait(30)
    assert said[0] == "migrating"
    assert not progress._thread.is_alive()
    progress.begin("the next")
    assert progress.line() == f"the next: {progress.seconds} s"
