"""How does a supervisor keep the proxy of its service alive? It owns the open port, and starts whoever serves it again."""

from __future__ import annotations

import fcntl
import json
import os
import signal
import sys

from quotatree.engines.local.supervisor.loop import now

TYPE_CHECKING = False
if TYPE_CHECKING:
    import socket
    from collections.abc import Callable
    from typing import Any

    from quotatree.engines.local.supervisor.supervisor import Supervisor

    Message = dict[str, Any]

CODE = "import sys; sys.path.insert(0, sys.argv.pop(1)); from quotatree.engines.local.proxy.process import main; main()"
LISTEN_FD = 3
SHORT_LIFE_SECONDS = 10.0
SHORT_LIVES = 5
CLOSE_SECONDS = 1.0
FIRST_PAUSE_SECONDS = 0.05
LOAD_SECONDS = 2.0
"""How often the proxy tells how many requests are in flight."""


class ProxyLink:
    def __init__(
        self,
        supervisor: Supervisor,
        listening: socket.socket,
        health: dict[str, Any],
        user: list[int] | None,
        *,
        heard: Callable[[Message], None],
        began: Callable[[], None],
        useless: Callable[[str], None],
    ) -> None:
        """`user`: (uid, gid) of the proxy, None for our own. `began` is called each time the proxy was started and knows no
        replica, `useless` with the reason when it ends again and again.
        """
        self._sup = supervisor
        # Moved away from the low numbers that the files of the child get.
        self._listening_fd = fcntl.fcntl(listening.fileno(), fcntl.F_DUPFD_CLOEXEC, 10)
        listening.close()
        self._options = json.dumps(
            {"listen": LISTEN_FD, "health": health, "user": user, "load_seconds": LOAD_SECONDS}
        )
        self._heard = heard
        self._began = began
        self._useless = useless
        self._pid = 0
        self._orders = self._told = -1
        self._rest = b""
        self._started_at = 0.0
        self._short_lives = 0
        self._closed = False
        self._then: Callable[[], None] = lambda: None

    def start(self) -> None:
        """Start the proxy, for the first time or after it ended; do nothing if it was closed meanwhile."""
        if self._closed:
            return
        try:
            self._spawn()
        except OSError as error:
            why = f"it cannot be started: {error.strerror}"
            self._sup.loop.after(0, lambda: self._try_again(why))
            return
        self._sup.own_children.add(self._pid)
        os.set_blocking(self._orders, False)
        os.set_blocking(self._told, False)
        self._sup.loop.watch(self._told, self._read)
        self._began()

    def _spawn(self) -> None:
        self._started_at = now()
        orders_read, self._orders = os.pipe2(os.O_CLOEXEC)
        self._told, told_write = os.pipe2(os.O_CLOEXEC)
        errors = self._open_errors()
        try:
            self._pid = os.posix_spawn(
                sys.executable,
                [sys.executable, "-I", "-c", CODE, _source(), self._options],
                {"LANG": "C.UTF-8", "PATH": os.defpath},
                file_actions=[
                    (os.POSIX_SPAWN_DUP2, orders_read, 0),
                    (os.POSIX_SPAWN_DUP2, told_write, 1),
                    (os.POSIX_SPAWN_DUP2, errors, 2),
                    (os.POSIX_SPAWN_DUP2, self._listening_fd, LISTEN_FD),
                ],
                setsigmask=[],
                setsigdef=[signal.SIGPIPE],
            )
        except OSError:
            os.close(self._orders)
            os.close(self._told)
            raise
        finally:
            for fd in (orders_read, told_write, errors):
                os.close(fd)

    def say(self, **order: Any) -> None:
        """Send an order to the proxy. It is lost if the proxy is dead: `began` then says again all that still matters."""
        if self._pid and not self._closed:
            try:
                os.write(self._orders, json.dumps(order).encode() + b"\n")
            except BlockingIOError:
                os.kill(self._pid, signal.SIGKILL)  # it reads nothing any more
            except BrokenPipeError:
                pass

    def close(self, then: Callable[[], None]) -> None:
        """End the proxy for good; `then` is called when the port is free. The proxy may finish answers for CLOSE_SECONDS."""
        self._closed = True
        self._then = then
        if self._pid:
            os.close(self._orders)
            self._orders = -1
            self._sup.loop.after(CLOSE_SECONDS, self._kill)
        else:
            self._sup.loop.after(0, self._finish)

    @property
    def _errors(self) -> str:
        return os.path.join(self._sup.run_dir.path, "proxy-errors")

    def _read(self) -> None:
        try:
            data = os.read(self._told, 65536)
        except BlockingIOError:
            return
        if not data:
            self._died()
            return
        *lines, self._rest = (self._rest + data).split(b"\n")
        for line in lines:
            self._heard(json.loads(line))

    def _died(self) -> None:
        status = self._bury()
        if self._closed:
            self._finish()
            return
        self._try_again(self._last_words() or f"it ended with {status}")

    def _try_again(self, why: str) -> None:
        self._short_lives = self._short_lives + 1 if now() - self._started_at < SHORT_LIFE_SECONDS else 1
        if self._short_lives >= SHORT_LIVES:
            self._useless(f"the proxy of the service cannot run: {why}")
            return
        self._sup.notice("the proxy of the service ended, and is started again")
        self._sup.loop.after(FIRST_PAUSE_SECONDS * 2.0**self._short_lives, self.start)

    def _bury(self) -> int:
        os.kill(self._pid, signal.SIGKILL)  # a child not waited for: the number is still its own
        _, status = os.waitpid(self._pid, 0)
        self._sup.own_children.discard(self._pid)
        self._sup.loop.unwatch(self._told)
        os.close(self._told)
        if self._orders >= 0:
            os.close(self._orders)
        self._pid = 0
        self._rest = b""
        return os.waitstatus_to_exitcode(status)

    def _kill(self) -> None:
        if self._pid:
            os.kill(self._pid, signal.SIGKILL)

    def _finish(self) -> None:
        os.close(self._listening_fd)
        self._then()

    def _open_errors(self) -> int:
        try:
            return os.open(self._errors, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
        except OSError:  # no room: what it says is then lost, and nothing else
            return os.open(os.devnull, os.O_WRONLY | os.O_CLOEXEC)

    def _last_words(self) -> str:
        try:
            with open(self._errors, encoding="utf-8", errors="replace") as file:
                lines = file.read().split("\n")
        except OSError:
            return ""
        return next((line for line in reversed(lines) if line), "")


def _source() -> str:
    """The directory that our package lies in."""
    return os.path.abspath(os.path.join(os.path.dirname(__file__), "..", "..", ".."))
