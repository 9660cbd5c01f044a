"""Resources as a cluster has them."""

from __future__ import annotations

from typing import Any

from quotatree.kubernetes_edge.resources import Declared, declared_quota, declared_workspace


def resource(name: str, spec: dict[str, Any], **meta: Any) -> dict[str, Any]:
    return {"metadata": {"name": name, "uid": f"uid-{name}", "generation": 1, **meta}, "spec": spec}


def quota(name: str, **spec: Any) -> Declared:
    meta = spec.pop("meta", {})
    return declared_quota(resource(name, spec, **meta))


def workspace(name: str, **spec: Any) -> Declared:
    meta = spec.pop("meta", {})
    return declared_workspace(resource(name, spec, **meta))


def root(name: str = "company", gpus: float = 16, **spec: Any) -> Declared:
    return quota(name, draws={"default": {"gpus": gpus}}, **spec)
