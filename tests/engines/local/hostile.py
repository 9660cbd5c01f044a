"""What a hostile job tries against a job of another workspace. Run as a program; prints what it got, as one line of JSON.

    python hostile.py '{"pid": …, "work": …, …}'

Each attempt returns what it got, or raises. The names are the rows of docs/explanation/isolation.md.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import shutil
import signal
import socket
import sys
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

libc = ctypes.CDLL(None, use_errno=True)

Attempt = Callable[[dict[str, Any]], object]


class GotNothing(Exception):
    """An attempt came to nothing without an error of the system."""


def others() -> Iterator[int]:
    """Pids of all processes that can be seen but for this one."""
    for name in os.listdir("/proc"):
        if name.isdigit() and int(name) not in (os.getpid(), os.getppid()):
            yield int(name)


def read_secret(victim: dict[str, Any]) -> object:
    for pid in others():
        try:
            variables = Path(f"/proc/{pid}/environ").read_bytes()
        except OSError:
            continue
        if victim["secret"].encode() in variables:
            return f"in /proc/{pid}/environ"
    raise GotNothing


def see_processes(victim: dict[str, Any]) -> object:
    for pid in others():
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):  # one that has ended meanwhile
            if victim["marker"].encode() in Path(f"/proc/{pid}/cmdline").read_bytes():
                return pid
    raise GotNothing


def kill(victim: dict[str, Any]) -> object:
    os.kill(victim["pid"], signal.SIGCONT)  # harmless, but allowed only where a kill would be
    return "sent"


def kill_all(victim: dict[str, Any]) -> object:
    """Everything that this user may signal; survived where the namespace ends with the job."""
    del victim
    if not list(others()):
        raise GotNothing
    os.kill(-1, signal.SIGKILL)
    return "sent"


def trace(victim: dict[str, Any]) -> object:
    return _call(libc.ptrace(16, victim["pid"], None, None))  # PTRACE_ATTACH


def read_memory(victim: dict[str, Any]) -> object:
    with open(f"/proc/{victim['pid']}/mem", "rb") as memory:
        return memory.fileno()


def read_checkpoint(victim: dict[str, Any]) -> object:
    return Path(victim["checkpoints"], "model").read_text()


def change_checkpoint(victim: dict[str, Any]) -> object:
    return Path(victim["checkpoints"], "model").write_text("spoilt")


def list_work(victim: dict[str, Any]) -> object:
    return os.listdir(victim["work"])


def empty_work(victim: dict[str, Any]) -> object:
    shutil.rmtree(victim["work"])
    return "emptied"


def read_output(victim: dict[str, Any]) -> object:
    return os.listdir(victim["logs"])


def see_jobs(victim: dict[str, Any]) -> object:
    found = [name for name in os.listdir(victim["jobs"]) if name != victim["mine"]]
    return found or _nothing()


def order_an_end(victim: dict[str, Any]) -> object:
    with open(victim["orders"], "a", encoding="utf-8") as orders:
        return orders.write('{"do":"stop","replicas":null,"grace_ms":0}\n')


def read_table_of_users(victim: dict[str, Any]) -> object:
    return Path(victim["users"]).read_text()


def read_tmp(victim: dict[str, Any]) -> object:
    return Path("/tmp", victim["marker"]).read_text()


def read_shared_memory(victim: dict[str, Any]) -> object:
    return Path("/dev/shm", victim["marker"]).read_text()


def attach_segment(victim: dict[str, Any]) -> object:
    return _call(libc.shmget(victim["key"], 0, 0))


def gain_rights(victim: dict[str, Any]) -> object:
    del victim
    status = Path("/proc/self/status").read_text()
    return _nothing() if "NoNewPrivs:\t1" in status else "set-user-id programs work"


def uncover(victim: dict[str, Any]) -> object:
    """Take what covers the engine's directory away, as root of a user namespace of one's own."""
    pid = os.fork()
    if pid == 0:
        got = libc.unshare(0x10000000 | 0x00020000) == 0 and libc.umount2(victim["engine"].encode(), 2) == 0
        os._exit(1 if got else 0)
    return "uncovered" if os.waitpid(pid, 0)[1] else _nothing()


def look_through_first_process(victim: dict[str, Any]) -> object:
    return os.listdir(f"/proc/1/root{victim['jobs']}")


# -- against notebooks and services --------------------------------------------------------------------------------


def read_token(victim: dict[str, Any]) -> object:
    """In the variables and commands of all processes, and in the files that keep it."""
    wanted = victim["token"].encode()
    for pid in others():
        for name in ("environ", "cmdline"):
            try:
                if wanted in Path(f"/proc/{pid}/{name}").read_bytes():
                    return f"in /proc/{pid}/{name}"
            except OSError:
                continue
    for path in victim["kept"]:
        try:
            if wanted in Path(path).read_bytes():
                return f"in {path}"
        except OSError:
            continue
    return _nothing()


def open_notebook(victim: dict[str, Any]) -> object:
    status, body = _asked(victim["notebook_port"])
    return _nothing() if status == 401 else body


def write_into_notebook(victim: dict[str, Any]) -> object:
    status, body = _asked(victim["notebook_port"], b"cell=spoilt")
    return _nothing() if status == 401 else body


def signal_proxy(victim: dict[str, Any]) -> object:
    os.kill(victim["proxy"], signal.SIGCONT)
    return "sent"


def listen_in_its_place(victim: dict[str, Any]) -> object:
    """At the address of its service, beside the one who listens there, where the kernel lets two."""
    with socket.socket() as taken:
        taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        taken.bind(("127.0.0.1", victim["service_port"]))
        taken.listen()
        return "listens"


def move_service(victim: dict[str, Any]) -> object:
    """Write down another port, at which its next run would answer."""
    return Path(victim["kept"][-1]).write_text('{"port": 1}')


def ask_service(victim: dict[str, Any]) -> object:
    return _asked(victim["service_port"])


SERVED: dict[str, Attempt] = {
    "read the token of its notebook": read_token,
    "read its notebook without the token": open_notebook,
    "write into its notebook without the token": write_into_notebook,
    "send a signal to the proxy of its service": signal_proxy,
    "listen at the address of its service": listen_in_its_place,
    "move its service to another port": move_service,
    "ask its service": ask_service,
}


def _asked(port: int, body: bytes | None = None) -> tuple[int, str]:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/", body, timeout=20) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, ""


ATTEMPTS: dict[str, Attempt] = {
    "read its secrets in /proc/PID/environ": read_secret,
    "see its processes": see_processes,
    "send a signal to its process": kill,
    "kill everything it may": kill_all,
    "attach a debugger to its process": trace,
    "open its memory": read_memory,
    "read its checkpoint": read_checkpoint,
    "change its checkpoint": change_checkpoint,
    "list its working directory": list_work,
    "empty its working directory": empty_work,
    "read its output": read_output,
    "see which jobs there are": see_jobs,
    "write an order to end it": order_an_end,
    "read which user is whose": read_table_of_users,
    "read its files in /tmp": read_tmp,
    "read its shared memory": read_shared_memory,
    "attach its System V shared memory": attach_segment,
    "gain rights by a set-user-id program": gain_rights,
    "take away what covers the engine's directory": uncover,
    "look through the first process's root": look_through_first_process,
}


def _call(result: int) -> int:
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))
    return result


def _nothing() -> object:
    raise GotNothing


def main() -> None:
    victim = json.loads(sys.argv[1])
    got: dict[str, str | None] = {}
    for name in victim["attempts"]:
        try:
            got[name] = repr({**ATTEMPTS, **SERVED}[name](victim))
        except (OSError, GotNothing):
            got[name] = None
    sys.stdout.write(json.dumps(got) + "\n")


if __name__ == "__main__":
    main()
