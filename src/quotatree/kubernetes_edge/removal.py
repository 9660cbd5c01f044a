"""What has QuotaTree left on objects of a cluster, and how does it come off? For when there is no server any more to do it.

Finalizers hold Quotas and Workspaces for ever, gates hold pods, and annotations would be taken for those of a new installation. Each
step can be repeated, and none starts or stops anything: a Job that waits stays suspended.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from copy import deepcopy
from functools import partial
from typing import Any, Final, NamedTuple, Protocol

from quotatree.engines.kubernetes import adopted
from quotatree.engines.kubernetes.adopted import Adoptable, label, note, templates
from quotatree.engines.kubernetes.adopted_view import QUOTA_LABEL
from quotatree.engines.kubernetes.errors import ClusterError, Denied, Missing
from quotatree.engines.kubernetes.kinds import PODS, Kind, Object, key_of
from quotatree.kubernetes_edge.declarations import QUOTAS, WORKSPACES
from quotatree.kubernetes_edge.resources import FINALIZER

DEPLOYMENTS: Final = Kind("apps/v1", "deployments", "Deployment")
SERVER: Final = "app.kubernetes.io/name=quotatree,app.kubernetes.io/component=server"
NOTES: Final = (adopted.JOB, adopted.RUN, adopted.PLACES)
MARKS: Final = (adopted.OBJECT, adopted.GROUP, adopted.REPLICA)
UNPROCESSABLE: Final = 422


class Cluster(Protocol):
    """The part of `client.Cluster` that is needed here."""

    def items(
        self, kind: Kind, namespace: str | None = None, *, labels: str = "", fields: str = ""
    ) -> Iterator[Object]: ...
    def merge(self, kind: Kind, namespace: str | None, name: str, patch: Object) -> Object: ...


class Step(NamedTuple):
    """One change. `do` makes it and returns what is left to be done by hand, or ""."""

    text: str
    do: Callable[[], str]


def servers(cluster: Cluster) -> list[str]:
    """Deployments of servers that still run: they would put back what is taken off."""
    try:
        found = list(cluster.items(DEPLOYMENTS, labels=SERVER))
    except Denied:
        return []
    running = [one for one in found if (one.get("status") or {}).get("replicas")]
    return ["/".join(key_of(one)) for one in running]


def steps(cluster: Cluster, sorts: Iterable[Adoptable]) -> Iterator[Step]:
    """All that is to be done, as it is found. A kind that the cluster does not know is passed over."""
    for kind in (WORKSPACES, QUOTAS):
        yield from (_finalizer(cluster, kind, one) for one in _all(cluster, kind) if _held(one))
    for sort in sorts:
        for one in _all(cluster, sort.kind, QUOTA_LABEL):
            template = adopted.is_suspended(sort, one) and _ungated(sort, one)
            if template or any(note(one, name) for name in NOTES):
                yield _object(cluster, sort, one)
    for pod in _all(cluster, PODS, adopted.OBJECT):
        yield _pod(cluster, pod)


def _all(cluster: Cluster, kind: Kind, labels: str = "") -> list[Object]:
    try:
        return list(cluster.items(kind, labels=labels))
    except Missing:
        return []


def _held(thing: Object) -> bool:
    return FINALIZER in (thing["metadata"].get("finalizers") or ())


def _finalizer(cluster: Cluster, kind: Kind, thing: Object) -> Step:
    left = [name for name in thing["metadata"].get("finalizers") or () if name != FINALIZER]
    return _change(cluster, kind, thing, "our finalizer", {"metadata": {"finalizers": left}})


def _object(cluster: Cluster, sort: Adoptable, thing: Object) -> Step:
    notes: Object = {"metadata": {"annotations": dict.fromkeys(NOTES)}}
    whole = deepcopy(notes)
    template = _ungated(sort, thing)
    adopted.merge(whole, template)
    step = _change(cluster, sort.kind, thing, "our annotations, labels and gate", whole)

    def do() -> str:
        try:
            return step.do()
        except ClusterError as error:
            if error.status != UNPROCESSABLE:
                raise
        _merge(cluster, sort.kind, thing, notes)  # it has begun, and its template is fixed
        return f"{_name(sort.kind, thing)}: its template keeps the gate, so pods made from now on wait; make it anew"

    return Step(step.text, do)


def _ungated(sort: Adoptable, thing: Object) -> Object:
    """The merge patch that takes labels and gate out of the pod templates; {} if they are not there.

    A list is sent as a whole, since that is how a merge patch works.
    """
    patch: Object = {}
    after = deepcopy(thing)
    for one in templates(sort, after):
        labels = (one.template.get("metadata") or {}).get("labels") or {}
        gates = (one.template.get("spec") or {}).get("schedulingGates") or []
        ours = [name for name in MARKS if name in labels]
        if not ours and {"name": adopted.GATE} not in gates:
            continue
        left = [gate for gate in gates if gate != {"name": adopted.GATE}] or None
        change: Object = {"metadata": {"labels": dict.fromkeys(ours)}, "spec": {"schedulingGates": left}}
        numbers = [place for place, step in enumerate(one.path) if isinstance(step, int)]
        until = one.path[: numbers[0]] if numbers else one.path
        if numbers:
            _drop(one.template, change)
        adopted.merge(patch, _nested(until, _at(after, until) if numbers else change))
    return patch


def _drop(into: Object, change: Mapping[str, Any]) -> None:
    """Change an object in place as a merge patch would, None taking a field away."""
    for name, value in change.items():
        if value is None:
            into.pop(name, None)
        elif isinstance(value, dict):
            _drop(into.setdefault(name, {}), value)
        else:
            into[name] = value


def _pod(cluster: Cluster, pod: Object) -> Step:
    gates = (pod.get("spec") or {}).get("schedulingGates") or []
    gone = [name for name in MARKS if label(pod, name)]
    patch: Object = {"metadata": {"labels": dict.fromkeys(gone), "annotations": {adopted.RUN: None}}}
    what = "our labels"
    if {"name": adopted.GATE} in gates:
        patch["spec"] = {"schedulingGates": [gate for gate in gates if gate != {"name": adopted.GATE}]}
        what = "our gate, so that kube-scheduler places it"
    return _change(cluster, PODS, pod, what, patch)


def _change(cluster: Cluster, kind: Kind, thing: Object, what: str, patch: Object) -> Step:
    return Step(f"{_name(kind, thing)}: take off {what}", partial(_merge, cluster, kind, thing, patch))


def _merge(cluster: Cluster, kind: Kind, thing: Object, patch: Object) -> str:
    key = key_of(thing)
    change = deepcopy(patch)
    change["metadata"]["uid"] = thing["metadata"]["uid"]
    with suppress(Missing):
        cluster.merge(kind, key.namespace or None, key.name, change)
    return ""


def _name(kind: Kind, thing: Object) -> str:
    key = key_of(thing)
    return f"{kind.name.lower()} {f'{key.namespace}/' if key.namespace else ''}{key.name}"


def _at(thing: Any, path: Iterable[str | int]) -> Any:
    for step in path:
        thing = thing[step]
    return thing


def _nested(path: Iterable[str | int], value: Any) -> Object:
    for step in reversed(list(path)):
        value = {step: value}
    found: Object = value
    return found
