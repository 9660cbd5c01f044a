"""How long does the command line take by itself? `python -m benchmarks.cli` starts it as a user does, and prints a table.

Own time is the processor time of the process (user and system), so a busy machine and a slow server do not count.
Budgets: 150 ms for --help, 300 ms for `get jobs -o json`.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from statistics import median

from quotatree.api.settings import ServerSettings
from quotatree.server.assembly import Server
from quotatree.store import Store

TIMES = 7
JOBS = 100


def own_ms(words: list[str], env: dict[str, str]) -> float:
    """Run a command and return its processor time (user and system) in ms."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(
        [sys.executable, "-m", "quotatree", *words], env=env, check=True, stdout=subprocess.DEVNULL
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return 1000 * (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)


def main() -> int:
    with tempfile.TemporaryDirectory() as scratch:
        directory = Path(scratch)
        store = Store.open(str(directory / "quotatree.db"))
        store.migrate()
        server = Server(store, ServerSettings(data=directory, engine="timer", nodes="2x8"), own_file=True)
        server.start()
        first, _ = server.furnish()
        assert first is not None
        web = server.uvicorn("127.0.0.1", 0)
        thread = threading.Thread(target=web.run, daemon=True)
        thread.start()
        while not web.started:
            time.sleep(0.01)
        port = web.servers[0].sockets[0].getsockname()[1]
        env = {**os.environ, "QUOTATREE_URL": f"http://127.0.0.1:{port}", "QUOTATREE_TOKEN": first.token}
        try:
            _furnish(env)
            return _table(env)
        finally:
            web.should_exit = True
            thread.join()
            server.stop()
            store.close()


def _furnish(env: dict[str, str]) -> None:
    tree = "quotas: [{id: q, draws: {default: {gpus: 16}}}]\nworkspaces: [{id: w, members: {admin: owner}, quotas: [q]}]\n"
    for words, text in (
        (["apply", "-y", "-f", "-"], tree),
        (["submit", "--workspace", "w", "--quota", "q", "--gpus", "8", "--count", str(JOBS)], ""),
    ):
        subprocess.run(
            [sys.executable, "-m", "quotatree", *words], env=env, input=text, text=True, check=True,
            stdout=subprocess.DEVNULL,
        )  # fmt: skip


def _table(env: dict[str, str]) -> int:
    missed = 0
    print(f"{'command':<24}{'own time':>10}{'budget':>10}   (median of {TIMES}, {JOBS} jobs)")
    for words, budget in ((["--help"], 150), (["get", "jobs", "-o", "json"], 300), (["get", "jobs"], 300)):
        found = median(own_ms(words, env) for _ in range(TIMES))
        missed += found > budget
        print(f"{' '.join(words):<24}{found:>7.0f} ms{budget:>7} ms")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
