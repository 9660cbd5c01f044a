"""Nothing of an engine is to be left on this machine, and its server is gone: how is everything ended?

For a demo or a test that takes its directory away. A server in use stops its jobs by orders, with their grace.
"""

from __future__ import annotations

import json
import os
import signal
import time
from contextlib import suppress
from typing import Final

from quotatree.engines.local.files import journal, layout
from quotatree.engines.local.host import process_tree
from quotatree.engines.local.host.identity import Identity

AGAIN_SECONDS: Final = 0.02


def end_everything(directory: str | os.PathLike[str]) -> int:
    """Kill every supervisor, then every process with the engine's mark, until none is found; return how many were killed."""
    engine = layout.EngineDir(directory)
    try:
        with open(engine.engine_file, encoding="utf-8") as file:
            mark = str(json.load(file)["id"]) + ":"
    except OSError:
        return 0  # no engine was ever here
    ended = sum(supervisor.send(signal.SIGKILL) for supervisor in _supervisors(engine))
    while found := process_tree.marked(mark):
        for process in found:
            ended += process.send(signal.SIGKILL)
        time.sleep(AGAIN_SECONDS)
    return ended


def _supervisors(engine: layout.EngineDir) -> list[Identity]:
    found = []
    with suppress(FileNotFoundError):
        for folder in os.listdir(engine.jobs):
            job = engine.job(layout.job_name(folder))
            with suppress(FileNotFoundError):
                for run in os.listdir(job.runs):
                    lines, _ = journal.read(job.run(int(run)).journal)
                    found += [Identity.read(line) for line in lines if line.get("is") == "supervising"]
    return found
