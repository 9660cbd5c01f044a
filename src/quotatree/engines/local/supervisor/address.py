"""Where does a notebook or a service answer? At one port and with one token for all runs of a job.

Both are kept in a file beside the runs. A port that somebody named is used or the run fails; one that we chose is given
up when another program has taken it meanwhile. A program listens only a while after its port was chosen: until then, and as
long as it runs, no other supervisor of this engine chooses that port. And no job can see which it is: whoever knows it, and
opens it first, gets what was meant for another.
"""

from __future__ import annotations

import errno
import fcntl
import functools
import json
import os
import socket

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    Opening = Callable[[int], socket.socket]

HOST = "127.0.0.1"
LOWEST_PORT = 10_000
TRIES = 200
BACKLOG = 1024


class PortTaken(Exception):
    """A port cannot be used; the message is meant for the user who named it."""


class Kept:
    """The port and token that a job keeps from run to run; 0 and "" if it has none yet."""

    __slots__ = ("_path", "port", "token")

    def __init__(self, path: str) -> None:
        self._path = path
        self.port = 0
        self.token = ""
        try:
            with open(path, encoding="utf-8") as file:
                found = json.load(file)
            self.port, self.token = int(found["port"]), str(found["token"])
        except (FileNotFoundError, ValueError, KeyError):
            pass  # the first run, or a file that a crash of the machine left empty

    def save(self) -> None:
        fresh = f"{self._path}.{os.getpid()}"
        fd = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
        with open(fd, "w", encoding="utf-8") as file:
            json.dump({"port": self.port, "token": self.token}, file)
        os.replace(fresh, self._path)


class Ports:
    """The ports that this supervisor has chosen, and that no other of the engine chooses meanwhile.

    Each is held by the lock of an empty file, which the kernel frees with us, in a directory that is closed to jobs. The files
    stay. An abstract socket would leave none, but all jobs can read its name.
    """

    __slots__ = ("_directory", "_held")

    def __init__(self, directory: str) -> None:
        self._directory = directory
        self._held: dict[int, int] = {}

    def choose(self) -> int:
        """A port that is free now, and ours; a program that asks nobody may still take it."""
        with self.open_anywhere(bind) as bound:
            return int(bound.getsockname()[1])

    def open_anywhere(self, opening: Opening) -> socket.socket:
        """Open a random port, below the kernel's range for outgoing connections, where a freed port is soon taken."""
        highest = first_outgoing_port()
        for _ in range(TRIES if highest > LOWEST_PORT else 0):
            port = LOWEST_PORT + int.from_bytes(os.urandom(4), "big") % (highest - LOWEST_PORT)
            try:
                return self.open(port, opening)
            except OSError:
                continue
        return opening(0)

    def open(self, port: int, opening: Opening) -> socket.socket:
        """Open this port, and hold it. Raises OSError, also if another supervisor, or we, have chosen it."""
        os.makedirs(self._directory, mode=0o700, exist_ok=True)
        lock = os.open(os.path.join(self._directory, str(port)), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            opened = opening(port)
        except OSError:
            os.close(lock)
            raise
        self._held[port] = lock
        return opened

    def release(self, port: int) -> None:
        """Let others choose this port again; nothing happens if it is not ours."""
        lock = self._held.pop(port, None)
        if lock is not None:
            fcntl.flock(lock, fcntl.LOCK_UN)  # a child that was forked meanwhile may have it open, too
            os.close(lock)

    def close(self) -> None:
        for port in list(self._held):
            self.release(port)


def listen(port: int) -> socket.socket:
    """Listen at this port on loopback; 0 means any free one. Raises OSError."""
    return socket.create_server((HOST, port), backlog=BACKLOG)


def bind(port: int) -> socket.socket:
    """Take this port on loopback without listening, so that no list of open ports shows it. Raises OSError."""
    taken = socket.socket()
    try:
        taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        taken.bind((HOST, port))
    except OSError:
        taken.close()
        raise
    return taken


def open_port(ports: Ports, kept: Kept, named: int | None, notice: Callable[[str], None]) -> socket.socket:
    """Open the port of a service: the named one, else the kept one, else a new one. Raises PortTaken."""
    if named:
        try:
            listening = listen(named)
        except OSError as error:
            raise PortTaken(_why("service_port", named, error)) from error
    else:
        listening = _kept_or_new(ports, kept, notice, listen)
    kept.port = int(listening.getsockname()[1])
    kept.save()
    return listening


def port_for(ports: Ports, kept: Kept, named: int | None, notice: Callable[[str], None]) -> int:
    """Choose the port at which a notebook will listen by itself. Raises PortTaken."""
    if named:
        check_free(named)
        kept.port = named
    else:
        with _kept_or_new(ports, kept, notice, bind) as bound:
            kept.port = int(bound.getsockname()[1])
    kept.save()
    return kept.port


def check_free(named: int) -> None:
    """Raise PortTaken if the port is taken. Asked before a start: a program that listens there would pass for it."""
    try:
        listen(named).close()
    except OSError as error:
        raise PortTaken(_why("port", named, error)) from error


def filled(command: str | list[str], port: int, token: str) -> str | list[str]:
    """The command with {port} and {token} filled in, for programs that do not read them from variables."""

    def in_words(words: str) -> str:
        return words.replace("{port}", str(port)).replace("{token}", token)

    return in_words(command) if isinstance(command, str) else [in_words(str(word)) for word in command]


def _kept_or_new(ports: Ports, kept: Kept, notice: Callable[[str], None], opening: Opening) -> socket.socket:
    if kept.port:
        try:
            return ports.open(kept.port, opening)
        except OSError:
            opened = ports.open_anywhere(opening)
            port = opened.getsockname()[1]
            notice(f"the address changed: port {kept.port} is taken by another program, now it is {port}")
            return opened
    return ports.open_anywhere(opening)


@functools.cache
def first_outgoing_port() -> int:
    """Where the kernel's range for outgoing connections begins."""
    try:
        with open("/proc/sys/net/ipv4/ip_local_port_range", encoding="ascii") as file:
            return int(file.read().split()[0])
    except OSError:
        return LOWEST_PORT


def _why(field: str, port: int, error: OSError) -> str:
    if error.errno == errno.EADDRINUSE:
        return f"port {port} is taken by another program; name another {field}, or none to have one chosen"
    return f"port {port} cannot be used: {error.strerror}; name another {field}, or none to have one chosen"
