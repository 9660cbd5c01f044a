"""What may a job ask this engine to run? The fields of a pod template, or a whole pod spec; checked, then by a dry run.

image, command, args    the container; a command that is one string is run by a shell
env, secrets            variables; those of `secrets` come from a Secret that only this run has
port, health            of a notebook or service: where it answers, and the path that says that it is well
volumes, mounts         as in a pod spec: `volumes`, and `volumeMounts` of the container
tolerations, node_labels, service_account, pull_secrets
storage                 of a notebook: the size of the volume that survives evictions, mounted at `storage_path`
pod                     a whole pod spec instead; its first container gets GPUs, variables and mounts
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from quotatree.core import Module
from quotatree.engines.base import Program

DEFAULT_PORT: Final = 8080
FIELDS: Final = (
    "image", "command", "args", "env", "secrets", "port", "health", "volumes", "mounts", "tolerations", "node_labels",
    "service_account", "pull_secrets", "storage", "storage_path", "workdir", "pod",
)  # fmt: skip
_OF_THE_CONTAINER: Final = ("image", "command", "args", "workdir")
_CONTAINERS: Final = ("containers", "initContainers")
_REQUIRED: Final = "affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution"
_TERMS: Final = f"{_REQUIRED}.nodeSelectorTerms"
_OBJECTS_OF_POD: Final = (
    "nodeSelector", "overhead", "resources", "resources.requests", "resources.limits", "affinity", "affinity.nodeAffinity",
    _REQUIRED,
)  # fmt: skip
_ADDRESSED: Final = frozenset({Module.DSW, Module.EAS})


class BadProgram(ValueError):
    """A program is refused; the message says which field is wrong and what is allowed."""


@dataclass(frozen=True, slots=True)
class PodProgram:
    """A program that passed all checks."""

    image: str = ""
    command: tuple[str, ...] = ()
    args: tuple[str, ...] = ()
    workdir: str = ""
    env: Mapping[str, str] = field(default_factory=dict)
    secrets: Mapping[str, str] = field(default_factory=dict)
    port: int = DEFAULT_PORT
    health: str = ""
    volumes: tuple[Any, ...] = ()
    mounts: tuple[Any, ...] = ()
    tolerations: tuple[Any, ...] = ()
    node_labels: Mapping[str, str] = field(default_factory=dict)
    service_account: str = ""
    pull_secrets: tuple[str, ...] = ()
    storage: str = ""
    storage_path: str = "/workspace"
    pod: Mapping[str, Any] | None = None


def parse(program: Program, module: Module) -> PodProgram:
    """Check the program of a job and return it. Raises BadProgram."""
    unknown = sorted(set(program) - set(FIELDS))
    if unknown:
        raise BadProgram(f"program.{unknown[0]}: no such field; there are {', '.join(FIELDS)}")
    given = {name: value for name, value in program.items() if value is not None}
    for name in ("port", "health"):
        if name in given and module not in _ADDRESSED:
            raise BadProgram(f"program.{name}: only for DSW and EAS")
    for name in ("storage", "storage_path"):
        if name in given and module is not Module.DSW:
            raise BadProgram(f"program.{name}: only for DSW")
    found = PodProgram(**{name: _READERS[name](f"program.{name}", value) for name, value in given.items()})
    if found.pod is not None:
        both = [name for name in _OF_THE_CONTAINER if given.get(name)]
        if both:
            raise BadProgram(
                f"program.{both[0]}: the whole pod is given; say it in program.pod.containers[0]"
            )
        _check_pod(found.pod)
    elif not found.image:
        raise BadProgram("program.image: missing; the container image to run")
    shared = sorted(set(found.env) & set(found.secrets))
    if shared:
        raise BadProgram(f"program.secrets.{shared[0]}: also in program.env; name it once")
    return found


def _check_pod(pod: Mapping[str, Any]) -> None:
    """Check the form of what is read of a whole pod; the API server checks the rest."""
    if not pod.get("containers"):
        raise BadProgram("program.pod.containers: missing; a pod has at least one container")
    for path in _OBJECTS_OF_POD:
        _object(f"program.pod.{path}", _at(pod, path, {}))
    _objects(f"program.pod.{_TERMS}", _at(pod, _TERMS, ()))
    for name in ("tolerations", "volumes", *_CONTAINERS):
        _objects(f"program.pod.{name}", _at(pod, name, ()))
    for name in _CONTAINERS:
        for number, one in enumerate(_at(pod, name, ())):
            where = f"program.pod.{name}[{number}]"
            for part in ("env", "volumeMounts"):
                _objects(f"{where}.{part}", _at(one, part, ()))
            for part in ("resources", "resources.requests", "resources.limits"):
                _object(f"{where}.{part}", _at(one, part, {}))


def _at(thing: Mapping[str, Any], path: str, empty: Any) -> Any:
    """What stands there; `empty` if nothing does."""
    found: Any = thing
    for step in path.split("."):
        found = (found or {}).get(step)
    return empty if found is None else found


def _text(where: str, value: Any) -> str:
    if not isinstance(value, str) or not value.strip():
        raise BadProgram(f"{where}: must be text")
    return value


def _words(where: str, value: Any) -> tuple[str, ...]:
    if isinstance(value, str) and value.strip():
        return ("/bin/sh", "-c", value)
    return _texts(where, value)


def _texts(where: str, value: Any) -> tuple[str, ...]:
    if not isinstance(value, list | tuple) or not all(isinstance(word, str) for word in value):
        raise BadProgram(f"{where}: must be a list of words")
    return tuple(value)


def _variables(where: str, value: Any) -> dict[str, str]:
    if not isinstance(value, Mapping) or not all(isinstance(text, str) for text in value.values()):
        raise BadProgram(f"{where}: must be names with their values, all text")
    for name in value:
        if not isinstance(name, str) or not name or "=" in name:
            raise BadProgram(f"{where}.{name}: is no name of a variable")
        if name.startswith("QUOTATREE_"):
            raise BadProgram(f"{where}.{name}: set by QuotaTree; choose another name")
    return dict(value)


def _objects(where: str, value: Any) -> tuple[Any, ...]:
    if not isinstance(value, list | tuple) or not all(isinstance(one, Mapping) for one in value):
        raise BadProgram(f"{where}: must be a list of objects, as in a pod spec")
    return tuple(value)


def _object(where: str, value: Any) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise BadProgram(f"{where}: must be an object, as in a pod spec")
    return value


def _port(where: str, value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= 65_535:
        raise BadProgram(f"{where} = {value!r}: must be a whole number from 1 to 65535")
    return value


def _health(where: str, value: Any) -> str:
    path = value.get("path") if isinstance(value, Mapping) else value
    text = _text(where, path)
    if not text.startswith("/"):
        raise BadProgram(f"{where} = {text!r}: must be a path that begins with /")
    return text


_READERS: Final[dict[str, Any]] = {
    "image": _text, "command": _words, "args": _texts, "workdir": _text, "env": _variables, "secrets": _variables,
    "port": _port, "health": _health, "volumes": _objects, "mounts": _objects, "tolerations": _objects,
    "node_labels": _variables, "service_account": _text, "pull_secrets": _texts, "storage": _text,
    "storage_path": _text, "pod": _object,
}  # fmt: skip
