"""Walks that went wrong once, kept as lists of events, so that a change of the random generators does not empty them.

A file of `frozen/` is one walk, line by line: `# …` tells its story, `settings {…}` and `wait 1000` (ms) are said in these words,
`plan` is a moment at which plans are made, `ask j003` and `suppose JobSubmitted {…}` are questions (explain, preview), and every
other line is an event: its name, and its fields as they are stored (quotatree.codec). An event that is refused is passed over.
To freeze another walk: `write(path, story, walk.settings, walk.log)`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args

from quotatree.codec import decode, encode
from quotatree.core import events as ev
from quotatree.core.state import Settings
from tests.property.walk import PLAN, START_MS, Walk


@dataclass(frozen=True, slots=True)
class Ask:
    """Why does this job wait, or who could take it (X1, X4)?"""

    job: str


@dataclass(frozen=True, slots=True)
class Suppose:
    """What would follow if this happened (X3)?"""

    event: ev.Event


Question = Ask | Suppose
Entry = ev.Event | Question | str
FOLDER = Path(__file__).parent / "frozen"
EVENTS: dict[str, type[Any]] = {cls.__name__: cls for cls in get_args(ev.Event)}


def frozen(folder: str) -> list[Path]:
    """Return the files of a folder of `frozen/`, in order."""
    found = sorted((FOLDER / folder).glob("*.events"))
    assert found, f"nothing is frozen in {folder}"
    return found


def read(path: Path) -> tuple[Settings, list[tuple[int, Entry]]]:
    """Return the settings of a frozen walk, and its log; the times are those at which it was walked."""
    settings, now_ms, log = Settings(), START_MS, list[tuple[int, Entry]]()
    for line in path.read_text(encoding="utf-8").splitlines():
        word, _, rest = line.partition(" ")
        if word == "settings":
            settings = decode(Settings, json.loads(rest))
        elif word == "wait":
            now_ms += int(rest)
        elif word != "#":
            log.append((now_ms, _entry(word, rest)))
    return settings, log


def write(path: Path, story: str, settings: Settings, log: Sequence[tuple[int, Entry]]) -> None:
    """Write a log, without the plans that followed a plan at the same moment: they are made again."""
    lines = [*(f"# {line}" for line in story.splitlines()), f"settings {json.dumps(encode(settings))}"]
    now_ms: int = START_MS
    before: Entry = ""
    for time_ms, entry in log:
        if time_ms > now_ms:
            lines.append(f"wait {time_ms - now_ms}")
        elif entry == before == PLAN:
            continue
        lines.append(_line(entry))
        now_ms, before = time_ms, entry
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def moments(path: Path) -> Iterator[tuple[Walk, list[Question]]]:
    """Walk a frozen walk; at each moment at which it plans, yield the walk, and the questions that are asked before the plan."""
    settings, log = read(path)
    walk, questions = Walk(settings), list[Question]()
    for time_ms, entry in log:
        walk.now_ms = time_ms
        if isinstance(entry, str):
            yield walk, questions
            questions = []
        elif isinstance(entry, Question):
            questions.append(entry)
        else:
            walk.happen(entry)


def _entry(word: str, rest: str) -> Entry:
    if word == PLAN:
        return PLAN
    if word == "ask":
        return Ask(rest)
    if word == "suppose":
        name, _, fields = rest.partition(" ")
        return Suppose(_event(name, fields))
    return _event(word, rest)


def _event(name: str, fields: str) -> ev.Event:
    found: ev.Event = decode(EVENTS[name], json.loads(fields))
    return found


def _line(entry: Entry) -> str:
    if isinstance(entry, str):
        return entry
    if isinstance(entry, Ask):
        return f"ask {entry.job}"
    if isinstance(entry, Suppose):
        return f"suppose {_line(entry.event)}"
    return f"{type(entry).__name__} {json.dumps(encode(entry))}"
