"""What may a job ask the local engine to run? The one place where a program is read and checked.

`parse` turns the JSON of a submit into a `LocalProgram` or says what is wrong with it, naming the field and what is
allowed. Values of `env` and `secrets` never appear in a message.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, Final

from quotatree.core import Module
from quotatree.engines.base import Program
from quotatree.engines.local.host import jupyter

MOST_RETRIES: Final = 100
MOST_BACKOFF_SECONDS: Final = 60.0
MOST_SECONDS: Final = 10 * 366 * 86_400.0
MOST_LOG_MIB: Final = 1_024
MOST_TEXT: Final = 128 * 1024  # the kernel takes no longer argument or variable

_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_OURS: Final = re.compile(r"QUOTATREE_.*|CUDA_VISIBLE_DEVICES|NVIDIA_VISIBLE_DEVICES")


class BadProgram(ValueError):
    """A program is refused; the message says which field is wrong and what is allowed."""


@dataclass(frozen=True, slots=True)
class Health:
    """How a service is asked whether it is well; without a path, a connection is enough."""

    path: str | None = None
    interval_seconds: float = 1.0
    timeout_seconds: float = 2.0


@dataclass(frozen=True, slots=True)
class IdleStop:
    """When a notebook is stopped: after so many minutes below both thresholds (CPU in percent of one core)."""

    minutes: float
    cpu_percent: float = 5.0
    gpu_percent: float = 5.0


@dataclass(frozen=True, slots=True)
class LocalProgram:
    """A program that passed all checks. A command that is one string is run by a shell."""

    command: tuple[str, ...] | str | None = None
    workdir: str | None = None
    env: Mapping[str, str] | None = None
    secrets: Mapping[str, str] | None = None
    retries: int = 0
    backoff_seconds: float = 1.0
    max_seconds: float | None = None
    port: int | None = None
    service_port: int | None = None
    health: Health | None = None
    idle_stop: IdleStop | None = None
    log_mib: int = 10

    def public(self) -> dict[str, Any]:
        """The program without its secrets, as it may be written to disk."""
        body = asdict(self)
        del body["secrets"]
        body["command"] = list(self.command) if isinstance(self.command, tuple) else self.command
        body["env"] = dict(self.env or {})
        return body


FIELDS: Final = tuple(one.name for one in fields(LocalProgram))
_ONLY_FOR: Final[dict[str, frozenset[Module]]] = {
    "retries": frozenset({Module.DLC}),
    "backoff_seconds": frozenset({Module.DLC, Module.EAS}),
    "port": frozenset({Module.DSW, Module.EAS}),
    "service_port": frozenset({Module.EAS}),
    "health": frozenset({Module.DSW, Module.EAS}),
    "idle_stop": frozenset({Module.DSW}),
}


def parse(program: Program, module: Module, replicas: int = 1) -> LocalProgram:
    """Check the program of a job and return it. Raises BadProgram."""
    _known("program", program, FIELDS)
    for name, modules in _ONLY_FOR.items():
        if program.get(name) is not None and module not in modules:
            raise BadProgram(f"program.{name}: only for {' and '.join(sorted(m.value for m in modules))}")
    found = {
        name: _READERS[name](f"program.{name}", value)
        for name, value in program.items()
        if value is not None  # null says the same as leaving it out
    }
    read = LocalProgram(**found)
    if read.command is None and module is not Module.DSW:
        raise BadProgram("program.command: missing; a list of words, or one string for a shell")
    if read.command is None and jupyter.find(read.env) is None:
        raise BadProgram("program.command: missing, and JupyterLab is not installed here")
    if read.port is not None and replicas > 1:
        raise BadProgram(
            f"program.port = {read.port}: {replicas} replicas cannot share one port; leave it out"
        )
    both = sorted(set(read.env or ()) & set(read.secrets or ()))
    if both:
        raise BadProgram(f"program.secrets.{both[0]}: also in program.env; name it once")
    return read


# -- one field -------------------------------------------------------------------------------------------------------


def _known(where: str, value: Mapping[str, Any], allowed: tuple[str, ...]) -> None:
    unknown = sorted(str(name) for name in set(value) - set(allowed))
    if unknown:
        raise BadProgram(f"{where}.{unknown[0]}: no such field; there are {', '.join(allowed)}")


def _text(where: str, value: Any) -> str:
    if not isinstance(value, str):
        raise BadProgram(f"{where}: must be text, not {_kind(value)}")
    if "\0" in value:
        raise BadProgram(f"{where}: must not contain a zero character")
    if len(value.encode(errors="surrogatepass")) >= MOST_TEXT:
        raise BadProgram(f"{where}: longer than {MOST_TEXT // 1024} KiB, which no process can be given")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise BadProgram(f"{where}: must be valid Unicode") from None
    return value


def _command(where: str, value: Any) -> tuple[str, ...] | str:
    if isinstance(value, str):
        if not value.strip():
            raise BadProgram(f"{where}: is empty; a list of words, or one string for a shell")
        return _text(where, value)
    if not isinstance(value, list | tuple) or not value:
        raise BadProgram(f"{where}: must be a list of words, or one string for a shell")
    words = tuple(_text(f"{where}[{n}]", word) for n, word in enumerate(value))
    if not words[0]:
        raise BadProgram(f"{where}[0]: is empty; the program to run stands first")
    return words


def _workdir(where: str, value: Any) -> str:
    path = Path(_text(where, value))
    if not path.is_absolute():
        raise BadProgram(f"{where} = {value!r}: must be an absolute path")
    try:
        if not path.is_dir():
            raise BadProgram(f"{where} = {value!r}: there is no such directory on this machine")
    except OSError as error:  # one that the server may not look at, or that no file system could have
        raise BadProgram(f"{where}: cannot be used: {error.strerror}") from None
    return str(path)


def _variables(where: str, value: Any) -> dict[str, str]:
    if not isinstance(value, Mapping):
        raise BadProgram(f"{where}: must be names with their values, not {_kind(value)}")
    for name, text in value.items():
        if not isinstance(name, str) or not _NAME.fullmatch(name):
            raise BadProgram(f"{where}.{name}: a name has letters, digits and _, and begins with no digit")
        if _OURS.fullmatch(name):
            raise BadProgram(f"{where}.{name}: set by QuotaTree; choose another name")
        _text(f"{where}.{name}", text)
    return dict(value)


def _number(lowest: float, highest: float, *, above: bool = False) -> Callable[[str, Any], float]:
    def read(where: str, value: Any) -> float:
        is_number = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
        if not is_number or not lowest <= value <= highest or (above and value == lowest):
            begin = "above" if above else "from"
            raise BadProgram(f"{where} = {value!r}: must be a number {begin} {lowest:g} to {highest:g}")
        return float(value)

    return read


def _whole(lowest: int, highest: int) -> Callable[[str, Any], int]:
    def read(where: str, value: Any) -> int:
        if isinstance(value, bool) or not isinstance(value, int) or not lowest <= value <= highest:
            raise BadProgram(f"{where} = {value!r}: must be a whole number from {lowest} to {highest}")
        return value

    return read


def _path(where: str, value: Any) -> str:
    text = _text(where, value)
    if not text.startswith("/") or any(not "!" <= letter <= "~" for letter in text):
        raise BadProgram(f"{where} = {value!r}: must begin with / and contain no blanks")
    return text


def _part(
    kind: type[Any], readers: Mapping[str, Callable[[str, Any], Any]], needed: str = ""
) -> Callable[..., Any]:
    def read(where: str, value: Any) -> Any:
        if not isinstance(value, Mapping):
            raise BadProgram(f"{where}: must be an object with {', '.join(readers)}")
        _known(where, value, tuple(readers))
        if needed and value.get(needed) is None:
            raise BadProgram(f"{where}.{needed}: missing")
        return kind(**{n: readers[n](f"{where}.{n}", one) for n, one in value.items() if one is not None})

    return read


_PERCENT: Final = _number(0, 100)
_READERS: Final[dict[str, Callable[[str, Any], Any]]] = {
    "command": _command,
    "workdir": _workdir,
    "env": _variables,
    "secrets": _variables,
    "retries": _whole(0, MOST_RETRIES),
    "backoff_seconds": _number(0, MOST_BACKOFF_SECONDS),
    "max_seconds": _number(0, MOST_SECONDS, above=True),
    "port": _whole(1, 65_535),
    "service_port": _whole(1, 65_535),
    "health": _part(
        Health,
        {
            "path": _path,
            "interval_seconds": _number(0.05, 3_600),
            "timeout_seconds": _number(0.05, 3_600),
        },
    ),
    "idle_stop": _part(
        IdleStop,
        {"minutes": _number(0, 1e6, above=True), "cpu_percent": _PERCENT, "gpu_percent": _PERCENT},
        "minutes",
    ),
    "log_mib": _whole(1, MOST_LOG_MIB),
}


def _kind(value: Any) -> str:
    names = {dict: "an object", list: "a list", int: "a number", float: "a number", bool: "true or false"}
    return names.get(type(value), type(value).__name__)
