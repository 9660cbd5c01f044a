"""How does a supervisor start in a moment and without weighing much? As a fork of a process that has all it needs.

A fresh interpreter takes tens of milliseconds and megabytes until it can supervise anything. The nursery imports the
supervisor once and does nothing but fork: what it read stays shared with all its children. It goes when the engine goes,
its children stay.

    nursery = Nursery(source)                          # source: the directory the package `quotatree` lies in
    pid = nursery.start(run_dir.path, secrets, lock)   # any thread; raises OSError if no process can be had
    nursery.close()

The open lock of the run goes along, so that it is held without a gap (`birth.py`). A nursery that died is replaced at the
next start. After a start that failed nobody knows whether there is a supervisor: the engine lets go of the lock and
sees whether it can take it again.
"""

from __future__ import annotations

import gc
import json
import os
import signal
import socket
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    import subprocess
    from collections.abc import Mapping

ANSWER_SECONDS = 20.0
BOOT = "import sys; sys.path.insert(0, sys.argv[1]); from quotatree.engines.local.nursery import main; main()"


class Nursery:
    """The engine's side."""

    def __init__(self, source: str) -> None:
        import threading  # here, since the nursery itself has no threads, and shall not pay for them

        self._source = source
        self._lock = threading.Lock()
        self._socket: socket.socket | None = None
        self._process: subprocess.Popen[bytes]

    def warm_up(self) -> None:
        """Begin before anybody waits for it."""
        with self._lock:
            if self._socket is None:
                self._begin()

    def start(self, run_dir: str, secrets: Mapping[str, str], lock: int) -> int:
        """The pid of the new supervisor. It may have ended already."""
        with self._lock:
            try:
                return self._ask(run_dir, secrets, lock)
            except OSError:
                self._drop()
                raise

    def close(self) -> None:
        with self._lock:
            self._drop()

    def _ask(self, run_dir: str, secrets: Mapping[str, str], lock: int) -> int:
        if self._socket is None:
            self._begin()
        assert self._socket is not None
        asked = json.dumps({"run_dir": run_dir, "secrets": dict(secrets)}).encode() + b"\n"
        sent = socket.send_fds(self._socket, [asked], [lock])
        self._socket.sendall(asked[sent:])
        answer = _line(self._socket)
        if answer is None:
            raise ConnectionError("the nursery ended")
        told = json.loads(answer)
        if "errno" in told:
            raise OSError(told["errno"], os.strerror(told["errno"]))
        return int(told["pid"])

    def _begin(self) -> None:
        import subprocess  # likewise

        ours, theirs = socket.socketpair()
        with theirs:
            process = subprocess.Popen(
                [sys.executable, "-I", "-S", "-c", BOOT, self._source],
                stdin=theirs.fileno(),
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                cwd="/",
                env={},  # what the server knows is none of theirs
                start_new_session=True,
            )
        ours.settimeout(ANSWER_SECONDS)
        self._socket, self._process = ours, process

    def _drop(self) -> None:
        if self._socket is None:
            return
        self._socket.close()
        self._socket = None
        self._process.kill()
        self._process.wait()


def main() -> None:
    from quotatree.engines.local import supervisor  # here, since the engine's side needs none of it

    asked = socket.socket(fileno=os.dup(0))
    null = os.open("/dev/null", os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # the kernel reaps them; we wait for nobody
    supervisor.warm_up()
    gc.collect()
    gc.freeze()  # a collection in a child would write to every object and so copy it
    while (request := _request(asked)) is not None:
        line, lock = request
        told = json.loads(line)
        try:
            pid = os.fork()
        except OSError as error:
            answer = {"errno": error.errno}
        else:
            if pid == 0:
                asked.close()
                supervisor.born(told["run_dir"], told["secrets"], lock)
            answer = {"pid": pid}
        os.close(lock)
        try:
            asked.sendall(json.dumps(answer).encode() + b"\n")
        except BrokenPipeError:
            return  # the engine died; what it asked for is done


def _request(connection: socket.socket) -> tuple[bytes, int] | None:
    """The line, and the lock that came with its first bytes. None: the engine is gone, or died in the middle."""
    first, locks, _, _ = socket.recv_fds(connection, 65536, 1)
    if not first or not locks:
        return None
    os.set_inheritable(locks[0], False)  # it comes inheritable, and a job that held it would outlive its run
    if first.endswith(b"\n"):
        return first, locks[0]
    rest = _line(connection)
    if rest is None:
        os.close(locks[0])
        return None
    return first + rest, locks[0]


def _line(connection: socket.socket) -> bytes | None:
    """The one line the other side has said: both speak in turn. None: it is gone, or died in the middle."""
    parts = []
    while True:
        part = connection.recv(65536)
        if not part:
            return None
        parts.append(part)
        if part.endswith(b"\n"):
            return b"".join(parts)
