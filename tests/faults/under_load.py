"""Servers under random load, one after the other, each of which lives until somebody kills it.

    python -m tests.faults.under_load DIRECTORY [local]

For every line on the standard input a server is forked (modules are loaded only once), with that line as its seed. What
it acknowledges goes to the standard output, one JSON object a line: `begun` with its process id, `sent` before a submit,
`done` once something is acknowledged, and `over` when it was killed. Submits that an earlier server left in doubt stand
in DIRECTORY/doubt.json and are sent again first, with the keys they had. With `local`, jobs are real processes, and
fewer.
"""

from __future__ import annotations

import json
import os
import random
import sys
import threading
from collections.abc import Callable
from concurrent.futures import Future
from functools import partial
from pathlib import Path
from typing import Any

import structlog

from quotatree.control.commands import values as do
from quotatree.control.loop import Controller
from quotatree.core.events import ScaleMode
from quotatree.core.model.job import JobId, JobRequest, ReplicaGroup, Shape
from quotatree.core.model.resources import Bounds
from tests.faults.local_world import local_wish, open_local_server
from tests.faults.world import QUOTAS, open_server

OUTSTANDING = 16

Wish = Callable[[random.Random], dict[str, Any]]


def submit(key: str, wish: dict[str, Any]) -> do.SubmitJob:
    group = ReplicaGroup(wish["replicas"], Shape(wish["gpus"] * 1000, 0, 0))
    asked = JobRequest(
        JobId(""), wish["quota"], (group,), 0, workspace="w", priority=wish["priority"], grace_ms=200
    )
    return do.SubmitJob(actor="root", key=key, asked=asked, program=wish["program"], on_hold=wish["on_hold"])


def wish_of(dice: random.Random) -> dict[str, Any]:
    return {
        "quota": dice.choice(QUOTAS),
        "gpus": dice.choice((1, 1, 1, 2)),
        "replicas": dice.choice((1, 1, 1, 2)),
        "priority": dice.randint(1, 9),
        "on_hold": dice.random() < 0.05,
        "program": {
            "seconds": round(dice.uniform(0.01, 0.2), 3),
            "leaves_after": round(dice.uniform(0, 0.1), 3),
            "outcome": dice.choice(("succeeded", "succeeded", "failed")),
        },
    }


class Load:
    def __init__(
        self, controller: Controller, dice: random.Random, seed: int, wish: Wish, pause_seconds: float
    ) -> None:
        self._controller = controller
        self._dice = dice
        self._seed = seed
        self._wish = wish
        self._pause_seconds = pause_seconds
        self._room = threading.Semaphore(OUTSTANDING)
        self._say = threading.Lock()
        self._known: list[str] = []
        self._count = 0

    def say(self, **line: Any) -> None:
        with self._say:
            sys.stdout.write(json.dumps(line) + "\n")
            sys.stdout.flush()

    def repeat(self, doubt: dict[str, dict[str, Any]]) -> None:
        for key, wish in doubt.items():
            self._submit(key, wish)

    def run(self) -> None:
        pace = threading.Event()
        while True:
            pace.wait(self._dice.uniform(0, self._pause_seconds))
            chance = self._dice.random()
            if chance < 0.7 or not self._known:
                self._count += 1
                self._submit(f"{self._seed}-{self._count}", self._wish(self._dice))
            elif chance < 0.8:
                job = self._take()
                self._call(do.CancelJob(actor="root", job=job), {"done": "cancel", "id": job})
            elif chance < 0.9:
                job, priority = self._take(), self._dice.randint(1, 9)
                command = do.SetPriority(actor="root", job=job, priority=priority)
                self._call(command, {"done": "priority", "id": job, "priority": priority})
            elif chance < 0.95:
                self._call(do.ReleaseJob(actor="root", job=self._take()), {"done": "release"})
            else:
                source, target = self._dice.sample(("a", "b"), 2)
                mode = self._dice.choice((ScaleMode.LAZY, ScaleMode.RECLAIM))
                amount = Bounds(1000)
                self._call(
                    do.TransferQuota(actor="root", source=source, target=target, amount=amount, mode=mode),
                    {"done": "transfer", "quota": source},
                )

    def _take(self) -> str:
        """Each job is touched once, so that the last acknowledged word about it stands."""
        return self._known.pop(self._dice.randrange(len(self._known)))

    def _submit(self, key: str, wish: dict[str, Any]) -> None:
        self.say(sent=key, wish=wish)
        self._call(submit(key, wish), {"done": "submit", "key": key})

    def _call(self, command: do.Command, line: dict[str, Any]) -> None:
        """Ask, and say so once it is acknowledged. What is refused has ended, or runs already."""
        self._room.acquire()

        def answered(future: Future[do.Answer]) -> None:
            self._room.release()
            if future.exception() is not None:
                return
            answer = future.result()
            self.say(**{"id": answer.id, "version": answer.version, **line})
            if line["done"] == "submit":
                self._known.append(answer.id)

        self._controller.call(command).add_done_callback(answered)


def live(directory: Path, seed: int, kind: str) -> None:
    """The life of one server; it does not return."""
    sys.stdout.write(json.dumps({"begun": os.getpid()}) + "\n")
    sys.stdout.flush()
    dice = random.Random(seed)
    if kind == "local":
        controller, _ = open_local_server(directory)
        load = Load(controller, dice, seed, partial(local_wish, directory), 0.06)
    else:
        controller, _ = open_server(directory)
        load = Load(controller, dice, seed, wish_of, 0.01)
    controller.start()
    load.repeat(json.loads((directory / "doubt.json").read_text()))
    load.run()


def main() -> None:
    structlog.configure(logger_factory=structlog.PrintLoggerFactory(sys.stderr))
    directory = Path(sys.argv[1])
    for line in sys.stdin:
        pid = os.fork()
        if pid == 0:
            try:
                live(directory, int(line), "".join(sys.argv[2:]))
            finally:
                os._exit(1)
        _, status = os.waitpid(pid, 0)
        sys.stdout.write(json.dumps({"over": status}) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
