"""Where does a notebook or a service answer? At one port and with one token for all runs of a job.

Both are kept in a file beside the runs. A port that somebody named is used or the run fails; one that we chose is given
up when another program has taken it meanwhile.
"""

from __future__ import annotations

import errno
import json
import os
import socket

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

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


def listen(port: int) -> socket.socket:
    """Listen at this port on loopback; 0 means any free one. Raises OSError."""
    return socket.create_server((HOST, port), backlog=BACKLOG)


def open_port(kept: Kept, named: int | None, notice: Callable[[str], None]) -> socket.socket:
    """Open the port of a service: the named one, else the kept one, else a new one. Raises PortTaken."""
    if named:
        try:
            listening = listen(named)
        except OSError as error:
            raise PortTaken(_why("service_port", named, error)) from error
    else:
        listening = _kept_or_new(kept, notice)
    kept.port = int(listening.getsockname()[1])
    kept.save()
    return listening


def port_for(kept: Kept, named: int | None, notice: Callable[[str], None]) -> int:
    """Choose the port at which a notebook will listen by itself. Raises PortTaken."""
    if named:
        check_free(named)
        kept.port = named
    else:
        with _kept_or_new(kept, notice) as listening:
            kept.port = int(listening.getsockname()[1])
    kept.save()
    return kept.port


def check_free(named: int) -> None:
    """Raise PortTaken if the port is taken. Asked before a start: a program that listens there would pass for it."""
    try:
        listen(named).close()
    except OSError as error:
        raise PortTaken(_why("port", named, error)) from error


def free_port() -> int:
    """A port that is free now, and may be taken a moment later."""
    with _any_port() as listening:
        return int(listening.getsockname()[1])


def filled(command: str | list[str], port: int, token: str) -> str | list[str]:
    """The command with {port} and {token} filled in, for programs that do not read them from variables."""

    def in_words(words: str) -> str:
        return words.replace("{port}", str(port)).replace("{token}", token)

    return in_words(command) if isinstance(command, str) else [in_words(str(word)) for word in command]


def _kept_or_new(kept: Kept, notice: Callable[[str], None]) -> socket.socket:
    if kept.port:
        try:
            return listen(kept.port)
        except OSError:
            listening = _any_port()
            port = listening.getsockname()[1]
            notice(f"the address changed: port {kept.port} is taken by another program, now it is {port}")
            return listening
    return _any_port()


def _any_port() -> socket.socket:
    """Listen at a random port, below the kernel's range for outgoing connections, where a freed port is soon taken."""
    highest = _first_outgoing_port()
    for _ in range(TRIES if highest > LOWEST_PORT else 0):
        port = LOWEST_PORT + int.from_bytes(os.urandom(4), "big") % (highest - LOWEST_PORT)
        try:
            return listen(port)
        except OSError:
            continue
    return listen(0)


def _first_outgoing_port() -> int:
    try:
        with open("/proc/sys/net/ipv4/ip_local_port_range", encoding="ascii") as file:
            return int(file.read().split()[0])
    except OSError:
        return LOWEST_PORT


def _why(field: str, port: int, error: OSError) -> str:
    if error.errno == errno.EADDRINUSE:
        return f"port {port} is taken by another program; name another {field}, or none to have one chosen"
    return f"port {port} cannot be used: {error.strerror}; name another {field}, or none to have one chosen"
