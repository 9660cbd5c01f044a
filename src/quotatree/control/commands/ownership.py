"""Who owns a tree of quotas: whoever uses the API, or resources of a cluster (E6)?

The answer is a label of the quota, so it is kept, shown and taken back like everything else of it. The root's label decides for
its tree; each quota's own label names the resource that declares it.
"""

from __future__ import annotations

from typing import Final

from quotatree.control.world import RESOURCES, World
from quotatree.core import Quota, QuotaSpec, Refused

OWNER_LABEL: Final = "quotatree.io/owned-by"


def owner_of(quota: Quota) -> str:
    """The resource that owns the quota: its own, else that of its root; "" if its tree belongs to the API."""
    if not _label(quota.root.spec):
        return ""
    return _label(quota.spec) or _label(quota.root.spec)


def check_owner(world: World, actor: str, quota: str) -> None:
    """Raise Refused unless the actor is on the side that owns the quota's tree."""
    resource = owner_of(world.quota(quota))
    if actor == RESOURCES and not resource:
        raise Refused(
            "quota", quota, "E6",
            'its tree belongs to the API: annotate the root\'s Quota with quotatree.io/adopt: "true" to take it over',
        )  # fmt: skip
    if actor != RESOURCES and resource:
        raise Refused(
            "quota", quota, "E6", f"belongs to the resource {resource}: change it there, with kubectl"
        )


def check_labels(actor: str, spec: QuotaSpec, before: QuotaSpec | None = None) -> None:
    """Raise Refused if somebody else than the resources says who owns a quota, other than `before`."""
    if actor != RESOURCES and _label(spec) != ("" if before is None else _label(before)):
        raise Refused("labels", OWNER_LABEL, "E6", "is set for quotas that are declared by resources")


def owned(spec: QuotaSpec, owner: str) -> tuple[tuple[str, str], ...]:
    """The labels of the quota with this owner; without any if it is ""."""
    others = [(name, value) for name, value in spec.labels if name != OWNER_LABEL]
    return tuple(sorted([*others, (OWNER_LABEL, owner)] if owner else others))


def _label(spec: QuotaSpec) -> str:
    return dict(spec.labels).get(OWNER_LABEL, "")
