"""How does a supervisor start in a moment and without weighing much? As a fork of a process that has all it needs.

A fresh interpreter takes tens of milliseconds and megabytes until it can supervise anything. The nursery imports the
supervisor once and does little but fork: what it read stays shared with all its children.

It is also their last resort. Whatever a killed supervisor leaves behind, however it hid from it, becomes the nursery's
child, and a child that is no supervisor is killed. Therefore it outlives the engine until its last supervisor is gone.

    nursery = Nursery(source)                          # source: the directory the package `quotatree` lies in
    pid = nursery.start(run_dir.path, secrets, lock)   # any thread; raises OSError if no process can be had
    nursery.close()

The open lock of the run goes along, so that it is held without a gap (`birth.py`). A nursery that died is replaced at the
next start. After a start that failed nobody knows whether there is a supervisor: the engine lets go of the lock and
sees whether it can take it again.
"""

from __future__ import annotations

import contextlib
import gc
import json
import os
import signal
import socket
import sys

from quotatree.engines.local.host import open_files

TYPE_CHECKING = False
if TYPE_CHECKING:
    import subprocess
    from collections.abc import Mapping

ANSWER_SECONDS = 20.0
KILL_AGAIN_SECONDS = 0.02
BOOT = "import sys; sys.path.insert(0, sys.argv[1]); from quotatree.engines.local.supervisor.nursery import main; main()"


class Nursery:
    """The engine's side: starts the nursery's process, and asks it for supervisors."""

    def __init__(self, source: str) -> None:
        import threading  # here, since the nursery itself has no threads, and shall not pay for them

        self._source = source
        self._lock = threading.Lock()
        self._socket: socket.socket | None = None
        self._process: subprocess.Popen[bytes]
        self.pid = 0
        """Pid of the process that forked the latest supervisor; 0 before the first."""

    def warm_up(self) -> None:
        """Start the nursery's process, so that the first run need not wait for it."""
        with self._lock:
            if self._socket is None:
                self._begin()

    def start(self, run_dir: str, secrets: Mapping[str, str], lock: int | None = None) -> int:
        """Start a supervisor; return its pid. It may have ended already. Without `lock` it takes the lock by itself."""
        with self._lock:
            try:
                return self._ask(run_dir, secrets, lock)
            except OSError:
                self._drop()
                raise

    def close(self) -> None:
        with self._lock:
            self._drop()

    def _ask(self, run_dir: str, secrets: Mapping[str, str], lock: int | None) -> int:
        if self._socket is None:
            self._begin()
        assert self._socket is not None
        asked = json.dumps({"run_dir": run_dir, "secrets": dict(secrets)}).encode() + b"\n"
        sent = socket.send_fds(self._socket, [asked], [] if lock is None else [lock])
        self._socket.sendall(asked[sent:])
        answer = _line(self._socket)
        if answer is None:
            raise ConnectionError("the nursery ended")
        told = json.loads(answer)
        if "errno" in told:
            raise OSError(told["errno"], os.strerror(told["errno"]))
        self._process.wait()  # our child ended once it had forked the nursery
        self.pid = int(told["nursery"])
        return int(told["pid"])

    def _begin(self) -> None:
        import subprocess  # likewise

        ours, theirs = socket.socketpair()
        with theirs:
            process = subprocess.Popen(
                [sys.executable, "-I", "-S", "-c", BOOT, self._source, str(open_files.usual())],
                stdin=theirs.fileno(),
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                cwd="/",
                env={},  # the server's variables are not for supervisors
                start_new_session=True,
            )
        ours.settimeout(ANSWER_SECONDS)
        self._socket, self._process = ours, process

    def _drop(self) -> None:
        if self._socket is None:
            return
        self._socket.close()
        self._socket = None
        self._process.wait()


def main() -> None:
    if os.fork() != 0:
        os._exit(0)  # so that no process must wait for the nursery, which may outlive the engine
    open_files.allow_many(for_jobs=int(sys.argv[2]))
    asked = socket.socket(fileno=os.dup(0))
    null = os.open("/dev/null", os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)
    _Cradle(asked).run()


class _Cradle:
    """The nursery's own side: forks supervisors, and kills what killed ones leave behind."""

    def __init__(self, asked: socket.socket) -> None:
        # Here and not above, since the engine's side needs none of it.
        from quotatree.engines.local.host import process_tree
        from quotatree.engines.local.supervisor import spawn, supervisor
        from quotatree.engines.local.supervisor.loop import Loop

        self._supervisor = supervisor
        self._tree = process_tree
        self._asked = asked
        self._engine_lives = True
        self._supervisors: set[int] = set()
        spawn.become_subreaper()
        self._loop = Loop()
        self._loop.on_signal(signal.SIGCHLD, self._child_ended)
        self._loop.watch(asked.fileno(), self._serve)
        supervisor.warm_up()
        gc.collect()
        gc.freeze()  # a collection in a child would write to every object and so copy it

    def run(self) -> None:
        while self._engine_lives or self._supervisors or self._tree.children(os.getpid()):
            self._loop.turn()

    def _serve(self) -> None:
        request = _request(self._asked)
        if request is None:
            self._engine_lives = False
            self._loop.unwatch(self._asked.fileno())
            return
        line, lock = request
        told = json.loads(line)
        answer = self._fork(told["run_dir"], told["secrets"], lock)
        if lock is not None:
            os.close(lock)
        with contextlib.suppress(BrokenPipeError):  # the engine died; what it asked for is done
            self._asked.sendall(json.dumps(answer).encode() + b"\n")

    def _fork(self, run_dir: str, secrets: Mapping[str, str], lock: int | None) -> dict[str, int | None]:
        try:
            pid = os.fork()
        except OSError as error:
            return {"errno": error.errno}
        if pid == 0:
            self._asked.close()
            self._loop.close()
            self._supervisor.born(run_dir, secrets, lock)
        self._supervisors.add(pid)
        return {"pid": pid, "nursery": os.getpid()}

    def _child_ended(self) -> None:
        """Wait for supervisors that ended, and kill every child that is none: it has lost its supervisor."""
        with contextlib.suppress(ChildProcessError):
            while (ended := os.waitpid(-1, os.WNOHANG)[0]) != 0:
                self._supervisors.discard(ended)
        orphans = set(self._tree.children(os.getpid())) - self._supervisors
        if orphans and self._tree.kill(orphans):
            self._loop.after(KILL_AGAIN_SECONDS, self._child_ended)


def _request(connection: socket.socket) -> tuple[bytes, int | None] | None:
    """The engine's next line, and the lock, or None, that came with it. None: the engine is gone, or died in the middle."""
    try:
        line, locks, _, _ = socket.recv_fds(connection, 65536, 1)
    except ConnectionError:
        return None
    for lock in locks:
        os.set_inheritable(lock, False)  # it comes inheritable, and a job that held it would outlive its run
    if line and not line.endswith(b"\n"):
        rest = _line(connection)
        line = b"" if rest is None else line + rest
    if not line:
        for lock in locks:
            os.close(lock)  # no supervisor will be forked to hold it
        return None
    return line, locks[0] if locks else None


def _line(connection: socket.socket) -> bytes | None:
    """The next line of the other side; both speak in turn. None: the other side is gone, or died in the middle."""
    parts = []
    while True:
        try:
            part = connection.recv(65536)
        except ConnectionError:
            return None
        if not part:
            return None
        parts.append(part)
        if part.endswith(b"\n"):
            return b"".join(parts)
