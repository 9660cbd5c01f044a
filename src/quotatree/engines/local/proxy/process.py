"""What keeps the address of a service while its replicas come and go? A process of its own beside the supervisor.

The supervisor opens the port and hands it over, so that connections wait instead of being refused should this process
die and be started again. They speak in lines of JSON:

    in    {"add": key, "port": n}   {"drain": key}   {"remove": key}   {"hold": seconds}
    out   {"ready": key}   {"unready": key, "why": text}   {"drained": key}
          {"load": [requests in flight in thousandths, over so many milliseconds]}, to a supervisor that asks for it

The end of the input is the end of this process: it never outlives its supervisor, and does not notice the server.
"""

from __future__ import annotations

import asyncio
import ctypes
import json
import os
import resource
import signal
import socket
import sys
from contextlib import suppress
from typing import Any, Final

from quotatree.engines.local.proxy.backends import Backends, Health
from quotatree.engines.local.proxy.forward import Client
from quotatree.engines.local.proxy.wire import Wire

PR_SET_PDEATHSIG: Final = 1
SPARE_FILES: Final = 64
BACKLOG: Final = 1024
LAST_WORDS_SECONDS: Final = 0.5  # less than the supervisor waits


def main() -> None:
    """Run the proxy with the options in `argv[1]`: {"listen": fd, "health": {…}, "user": [uid, gid] or null, "load_seconds": how often
    the load is told, or null}."""
    options = json.loads(sys.argv[1])
    _drop_rights(options.get("user"))
    # After the change of user, which clears it. The end of the pipe would do, unless a stray process inherited it.
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C in a terminal is for the process that started us
    listening = socket.socket(fileno=options["listen"])
    with suppress(KeyboardInterrupt):
        asyncio.run(serve(listening, Health(**options.get("health") or {}), options.get("load_seconds")))


async def serve(listening: socket.socket, health: Health, load_seconds: float | None = None) -> None:
    backends = Backends(health, _tell)
    clients: dict[asyncio.Task[None], Client] = {}
    most_clients = _open_files() // 2 - SPARE_FILES

    def opened(wire: Wire) -> None:
        if len(clients) >= most_clients:
            wire.abort()
            return
        client = Client(wire, backends)
        task = asyncio.create_task(client.serve())
        clients[task] = client
        task.add_done_callback(clients.pop)

    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: Wire(opened), sock=listening, backlog=BACKLOG)
    telling = None if load_seconds is None else asyncio.create_task(_keep_telling(backends, load_seconds))
    async for order in _orders():
        obey(backends, order)
    server.close()
    if telling is not None:
        telling.cancel()
    talking = [task for task, client in clients.items() if client.talking]
    if talking:
        await asyncio.wait(talking, timeout=LAST_WORDS_SECONDS)


def obey(backends: Backends, order: dict[str, Any]) -> None:
    match order:
        case {"add": key, "port": port}:
            backends.add(key, port)
        case {"drain": key}:
            backends.drain(key)
        case {"remove": key}:
            backends.remove(key)
        case {"hold": seconds}:
            backends.hold(seconds)
        case _:
            raise ValueError(f"an order that the proxy does not know: {order}")


async def _keep_telling(backends: Backends, seconds: float) -> None:
    while True:
        await asyncio.sleep(seconds)
        _tell({"load": backends.load.take()})


async def _orders() -> Any:
    reader = asyncio.StreamReader()
    await asyncio.get_running_loop().connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(reader), sys.stdin
    )
    while line := await reader.readline():
        if line.endswith(b"\n"):
            yield json.loads(line)


def _tell(what: dict[str, Any]) -> None:
    with suppress(BrokenPipeError):  # the end of the input comes next
        os.write(sys.stdout.fileno(), json.dumps(what).encode() + b"\n")


def _drop_rights(user: list[int] | None) -> None:
    """If we are root, become this (uid, gid): the modules are loaded, and nothing needs the server's rights any more."""
    if user is not None and os.geteuid() == 0:
        uid, gid = user
        os.setgroups([])
        os.setgid(gid)
        os.setuid(uid)


def _open_files() -> int:
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = 65_536 if hard == resource.RLIM_INFINITY else hard
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
    return most


if __name__ == "__main__":
    main()
