"""What does an object that was made with kubectl ask for? The body of a submit, in the words of the API. Pure.

Labels say what a queue must know (and what `kubectl get -l` can find), annotations the rest; what a pod needs and how long it may
take to end stand in its template, and are not said twice.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from quotatree.engines.kubernetes import adopted
from quotatree.engines.kubernetes.adopted import Adoptable, Template, label, note
from quotatree.engines.kubernetes.adopted_plan import REQUEST, request_of
from quotatree.engines.kubernetes.adopted_view import QUOTA_LABEL, run_of
from quotatree.engines.kubernetes.kinds import Key, Object, key_of
from quotatree.engines.kubernetes.native import FIELD
from quotatree.engines.kubernetes.pod_request import WrongRequest, grace_seconds, shape_of

WORKSPACE_LABEL: Final = f"{adopted.DOMAIN}/workspace"
PRIORITY_LABEL: Final = f"{adopted.DOMAIN}/priority"
HOLD: Final = f"{adopted.DOMAIN}/hold"
LONGEST_NAME: Final = 63
_TRUTH: Final = {"true": True, "false": False}
_TEXTS: Final = {"module": "module", "idle": "idle", "checkpoint-interval": "checkpoint_interval"}
ANNOTATIONS: Final = (*_TEXTS, "max-preemptions", "requeue", "hold", "checkpoint")
"""What may be said of a job, each below quotatree.io/."""


class WrongObject(Exception):
    """What the object asks for cannot be read; the message names the label or annotation and what is allowed."""


@dataclass(frozen=True, slots=True)
class Asked:
    """An object as far as its place in the queue goes."""

    sort: str
    api: str
    kind: str
    key: Key
    uid: str
    quota: str
    workspace: str
    """The label, which must be that of the namespace; "" without it."""
    body: Mapping[str, Any]
    """Of a submit, but for the workspace and what runs; {} if `wrong`."""
    wrong: str
    """Why the object cannot be read, or ""."""
    suspended: bool
    gated: bool
    """Whether its pod templates have the gate and our labels."""
    job: str
    """The id of our job, if it says so, else ""."""
    run: int
    """The run that it was started for last; 0: none."""
    run_job: str
    """The job of that run."""
    request: str
    """A digest of all that decides where its pods fit."""
    ended: bool
    deleting: bool
    on_hold: bool

    @property
    def priority(self) -> object:
        return self.body.get("priority", 1)

    @property
    def program(self) -> dict[str, Any]:
        return {
            FIELD: {
                "apiVersion": self.api,
                "kind": self.kind,
                "namespace": self.key.namespace,
                "name": self.key.name,
                "uid": self.uid,
                REQUEST: self.request,
            }
        }


def asked_of(sort: Adoptable, gpu_names: Iterable[str], thing: Object) -> Asked:
    wrong, body = "", {}
    run_job, run = run_of(note(thing, adopted.RUN))
    try:
        body = _body(sort, thing, tuple(gpu_names))
    except (WrongObject, WrongRequest) as error:
        wrong = str(error)
    return Asked(
        sort=sort.name,
        api=sort.kind.api,
        kind=sort.kind.name,
        key=key_of(thing),
        uid=thing["metadata"]["uid"],
        quota=label(thing, QUOTA_LABEL),
        workspace=label(thing, WORKSPACE_LABEL),
        body=body,
        wrong=wrong,
        suspended=adopted.is_suspended(sort, thing),
        gated=not adopted.adoption(sort, thing),
        job=note(thing, adopted.JOB),
        run=run,
        run_job=run_job,
        request=request_of(sort, thing),
        ended=adopted.ending(sort, thing) is not None,
        deleting=thing["metadata"].get("deletionTimestamp") is not None,
        on_hold=note(thing, HOLD) == "true",
    )


def _body(sort: Adoptable, thing: Object, gpu_names: tuple[str, ...]) -> dict[str, Any]:
    templates = adopted.templates(sort, thing)
    if not templates:
        raise WrongObject("it asks for no pod, so there is nothing to queue")
    groups = [_group(number, one, gpu_names) for number, one in enumerate(templates)]
    name = thing["metadata"]["name"]
    body: dict[str, Any] = {
        "quota": label(thing, QUOTA_LABEL),
        "name": name if len(name) <= LONGEST_NAME else "",
        "groups": groups,
        "grace": f"{max(grace_seconds(one.template) for one in templates)}s",
        "priority": _priority(label(thing, PRIORITY_LABEL)),
        "on_hold": _flag(thing, "hold"),
        "requeue": _flag(thing, "requeue"),
    }
    if len(groups) == 1:
        body["min_replicas"] = groups[0]["replicas"]  # it runs whole, services too
    for said, field in _TEXTS.items():
        if text := note(thing, f"{adopted.DOMAIN}/{said}"):
            body[field] = text
    if text := note(thing, f"{adopted.DOMAIN}/max-preemptions"):
        if not text.isdecimal():
            raise WrongObject(f"annotation {adopted.DOMAIN}/max-preemptions {text!r}: must be a whole number")
        body["max_preemptions"] = int(text)
    return body


def _group(number: int, one: Template, gpu_names: tuple[str, ...]) -> dict[str, Any]:
    if _names_nodes(one.template):
        raise WrongObject(
            "its pod template names a node by metadata.name or nodeName: where it runs is decided by the queue"
        )
    if (one.template.get("spec") or {}).get("resourceClaims"):
        raise WrongObject(
            "its pod template has resourceClaims, which are not counted: ask for GPUs by limits"
        )
    shape = shape_of(one.template, gpu_names, (one.template.get("spec") or {}).get("nodeSelector") or {})
    return {
        "name": f"part-{number}",
        "replicas": one.pods,
        "gpus": shape.gpu_milli / 1000,
        "cpu": shape.cpu_milli / 1000,
        "memory": f"{shape.memory_mib}Mi",
        "labels": dict(shape.labels),
    }


def _names_nodes(template: Object) -> bool:
    spec = template.get("spec") or {}
    required = ((spec.get("affinity") or {}).get("nodeAffinity") or {}).get(
        "requiredDuringSchedulingIgnoredDuringExecution"
    ) or {}
    fields = [
        one for term in required.get("nodeSelectorTerms") or () for one in term.get("matchFields") or ()
    ]
    return bool(fields or spec.get("nodeName"))


def _priority(text: str) -> int | str:
    """A number, or the name of a priority (W6); without the label the lowest."""
    if not text:
        return 1
    return int(text) if text.isdecimal() and len(text) < 3 else text


def _flag(thing: Object, name: str) -> bool:
    text = note(thing, f"{adopted.DOMAIN}/{name}")
    if text and text not in _TRUTH:
        raise WrongObject(f'annotation {adopted.DOMAIN}/{name} {text!r}: must be "true" or "false"')
    return _TRUTH.get(text, False)
