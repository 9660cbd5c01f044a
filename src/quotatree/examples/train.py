"""A training that loses nothing when it is preempted: `python -m quotatree.examples.train --steps 500`.

It fits a line by gradient descent, slowly, and needs nothing but Python. The step's number determines what a step does, so a run
that was interrupted ends with the weights of one that was not, bit for bit; `digest` in its last line says so.

What makes it safe to evict:

- SIGTERM is the notice: the step in hand is finished, the state is saved, and the process leaves with a code other than 0.
  (0 means that the work is done.)
- The state is written beside the old one and renamed over it, so that a kill at any moment leaves one of the two whole.
- Saving touches $QUOTATREE_CHECKPOINT_FILE, so that the scheduler knows how little an eviction would cost.
- It begins with whatever state it finds in $QUOTATREE_CHECKPOINT_DIR, which follows the job through its runs.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import random
import signal
import struct
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

LEFT_ON_NOTICE: Final = 75  # EX_TEMPFAIL: try again later
FEATURES: Final = 16
BATCH: Final = 64
TRUTH: Final = tuple(2 * n / (FEATURES - 1) - 1 for n in range(FEATURES))
"""The weights that the training looks for."""


@dataclass(slots=True)
class State:
    step: int
    weights: list[float]


def main() -> int:
    asked = arguments()
    rank = os.environ.get("RANK", "0")
    directory = Path(os.environ.get("QUOTATREE_CHECKPOINT_DIR", "checkpoints"))
    directory.mkdir(parents=True, exist_ok=True)
    saved, progress = directory / f"state-{rank}.json", directory / f"progress-{rank}"
    noticed: list[int] = []
    signal.signal(signal.SIGTERM, lambda number, _: noticed.append(number))

    state = load(saved)
    if state.step:
        reached = int(progress.read_text() or 0) if progress.exists() else state.step
        say(
            f"continues at step {state.step} of {asked.steps}; {max(0, reached - state.step)} steps were lost"
        )
    else:
        say(f"begins, {asked.steps} steps")
    saved_at = time.monotonic()
    while state.step < asked.steps:
        advance(state)
        progress.write_text(str(state.step))
        if noticed:
            save(state, saved)
            say(f"was told to leave, saved step {state.step}")
            return LEFT_ON_NOTICE
        if time.monotonic() - saved_at >= asked.save_every:
            save(state, saved)
            saved_at = time.monotonic()
            say(f"step {state.step}, loss {loss(state):.6f}, saved")
        time.sleep(asked.step_seconds)
    save(state, saved)
    say(f"done after {state.step} steps, digest {digest(state)}")
    return 0


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description="Train for a while; save when told to leave; go on where it was."
    )
    parser.add_argument("--steps", type=int, default=500)
    parser.add_argument("--step-seconds", type=float, default=0.02, help="how long to sleep after each step")
    parser.add_argument("--save-every", type=float, default=5.0, metavar="SECONDS")
    return parser.parse_args()


def advance(state: State) -> None:
    """Do one step. Its batch depends only on the step's number."""
    chance = random.Random(state.step)
    steps = [0.0] * FEATURES
    for _ in range(BATCH):
        inputs = [chance.gauss() for _ in range(FEATURES)]
        error = dot(inputs, state.weights) - dot(inputs, TRUTH)
        steps = [step + error * value for step, value in zip(steps, inputs, strict=True)]
    state.weights = [weight - 0.01 * step / BATCH for weight, step in zip(state.weights, steps, strict=True)]
    state.step += 1


def dot(left: Sequence[float], right: Sequence[float]) -> float:
    return sum(a * b for a, b in zip(left, right, strict=True))


def loss(state: State) -> float:
    return sum((weight - true) ** 2 for weight, true in zip(state.weights, TRUTH, strict=True)) / FEATURES


def digest(state: State) -> str:
    return hashlib.sha256(struct.pack(f"<{FEATURES}d", *state.weights)).hexdigest()[:16]


def load(path: Path) -> State:
    return State(**json.loads(path.read_text())) if path.exists() else State(0, [0.0] * FEATURES)


def save(state: State, path: Path) -> None:
    fresh = path.with_suffix(".new")
    with fresh.open("w") as file:
        json.dump({"step": state.step, "weights": state.weights}, file)
        file.flush()
        os.fsync(file.fileno())
    os.replace(fresh, path)
    reported = os.environ.get("QUOTATREE_CHECKPOINT_FILE")
    if reported:
        Path(reported).touch()


def say(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
