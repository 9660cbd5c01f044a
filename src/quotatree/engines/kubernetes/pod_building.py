"""What does the cluster get for an order? The pod of a replica, the Service that names it, a notebook's volume. Pure.

All names follow from job, run and replica, so that making a thing twice makes one. A pod asks for the node that the core chose
by required affinity and is bound by kube-scheduler like any other: what is not true there is said, and nobody is overruled.
"""

from __future__ import annotations

import hashlib
import re
from copy import deepcopy
from typing import Any, Final

from quotatree.core import Module, Shape
from quotatree.engines.base import ReplicaOrder, StartOrder
from quotatree.engines.kubernetes.kinds import Object
from quotatree.engines.kubernetes.options import DOMAIN, KubernetesOptions
from quotatree.engines.kubernetes.pod_reading import BESIDE, CORE, JOB, MODULE, REPLICA, RESTART, RUN
from quotatree.engines.kubernetes.pod_request import WrongRequest, asks_for_more, shape_of
from quotatree.engines.kubernetes.program import PodProgram

MANAGED: Final = "app.kubernetes.io/managed-by"
OURS: Final = "quotatree"
WORKSPACE: Final = f"{DOMAIN}/workspace"
RENDEZVOUS_PORT: Final = 29_500
LONGEST_NAME: Final = 50
NAMED: Final = frozenset({Module.DSW, Module.EAS})
RESTARTS: Final = {Module.DLC: "Never", Module.DSW: "Never", Module.EAS: "Always"}


def job_name(job: str) -> str:
    """A job's id as a name that Kubernetes takes: as it is, or cut, with a hash that keeps two apart."""
    if re.fullmatch(r"[a-z]([-a-z0-9]*[a-z0-9])?", job) and len(job) <= LONGEST_NAME:
        return job
    kept = re.sub(r"[^a-z0-9]+", "-", job.lower()).strip("-")[: LONGEST_NAME - 12]
    return f"j-{kept}-{hashlib.sha256(job.encode()).hexdigest()[:8]}".replace("--", "-")


def run_name(job: str, run: int) -> str:
    return f"{job_name(job)}-{run}"


def pod_name(job: str, run: int, replica: int) -> str:
    return f"{run_name(job, run)}-{replica}"


def labels_of(order: StartOrder) -> dict[str, str]:
    """Labels of everything that belongs to a run."""
    return {
        MANAGED: OURS,
        JOB: order.job,
        RUN: str(order.run),
        MODULE: order.module.value,
        CORE: str(order.owner.replicas),
        WORKSPACE: _label(order.workspace),
        f"{DOMAIN}/quota": _label(order.owner.quota),
    }


def needs_service(order: StartOrder) -> bool:
    return order.module in NAMED or order.owner.replicas > 1


def service(order: StartOrder, program: PodProgram) -> Object:
    """Names for the replicas of a training run, before they are ready; one address for a notebook or service that is."""
    meta = {"name": service_name(order), "labels": labels_of(order)}
    if order.module in NAMED:
        return {
            "metadata": meta,
            "spec": {"selector": {JOB: order.job, RUN: str(order.run)}, "ports": [{"port": program.port}]},
        }
    return {
        "metadata": meta,
        "spec": {
            "clusterIP": "None",
            "publishNotReadyAddresses": True,
            "selector": {JOB: order.job, RUN: str(order.run)},
            "ports": [{"port": RENDEZVOUS_PORT}],
        },
    }


def service_name(order: StartOrder) -> str:
    return run_name(order.job, order.run)


def volume_claim(order: StartOrder, program: PodProgram, options: KubernetesOptions) -> Object:
    """The volume of a notebook: of the job, not of a run, so that it survives every eviction."""
    spec: dict[str, Any] = {
        "accessModes": ["ReadWriteOnce"],
        "resources": {"requests": {"storage": program.storage}},
    }
    if options.storage_class:
        spec["storageClassName"] = options.storage_class
    labels = {MANAGED: OURS, JOB: order.job, WORKSPACE: _label(order.workspace)}
    return {"metadata": {"name": job_name(order.job), "labels": labels}, "spec": spec}


def beside(order: StartOrder, program: PodProgram) -> list[str]:
    """The kinds of objects that a run has beside its pods, all called `run_name`."""
    found = ["services"] if needs_service(order) else []
    return [*found, "secrets"] if needs_secret(order, program) else found


def secret(order: StartOrder, program: PodProgram, token: str) -> Object:
    """What only this run may read: the secrets of its program, and the token of a notebook."""
    data = dict(program.secrets)
    if order.module is Module.DSW:
        data["QUOTATREE_TOKEN"] = token
    return {
        "metadata": {"name": run_name(order.job, order.run), "labels": labels_of(order)},
        "stringData": data,
    }


def needs_secret(order: StartOrder, program: PodProgram) -> bool:
    return bool(program.secrets) or order.module is Module.DSW


def pod(
    order: StartOrder,
    replica: ReplicaOrder,
    program: PodProgram,
    options: KubernetesOptions,
    gpu_resource: str,
    restart: str = "",
) -> Object:
    """The pod of a replica; `gpu_resource` is what GPUs are called on its node, `restart` the key of the last rolling restart.

    Raises WrongRequest if it asks for more than its replica has, or for what cannot be counted (Q3).
    """
    spec: dict[str, Any] = deepcopy(dict(program.pod)) if program.pod is not None else {"containers": [{}]}
    main = spec["containers"][0]
    if program.pod is None:
        main.update(_container(program))
    main.setdefault("name", "main")
    main["resources"] = _resources(
        main.get("resources") or {}, _left_by_others(spec, replica.shape), options, gpu_resource
    )
    variables = {one.get("name"): one for one in main.get("env") or ()}
    for name, value in {**program.env, **_variables(order, replica, program, options)}.items():
        variables[name] = {"name": name, "value": value}
    for name in _secret_names(order, program):
        source = {"secretKeyRef": {"name": run_name(order.job, order.run), "key": name}}
        variables[name] = {"name": name, "valueFrom": source}
    main["env"] = list(variables.values())
    _mount(spec, main, order, program)
    if order.module in NAMED:
        _address(main, order, program)
    _place(spec, replica, program)
    spec.setdefault("restartPolicy", RESTARTS[order.module])
    if order.module is not Module.EAS:
        spec["restartPolicy"] = "Never"
    spec["terminationGracePeriodSeconds"] = max(1, -(-order.grace_ms // 1000))
    spec["priorityClassName"] = options.priority_class
    spec.pop("nodeName", None)
    if needs_service(order):
        spec["hostname"] = f"r{replica.replica}"
        spec["subdomain"] = service_name(order)
    if more := asks_for_more({"spec": spec}, replica.shape, options.gpu_resources):
        raise WrongRequest(more)
    notes = {
        f"{DOMAIN}/owner": order.owner.user,
        f"{DOMAIN}/name": order.owner.name,
        f"{DOMAIN}/priority": str(order.owner.priority),
        BESIDE: ",".join(beside(order, program)),
        RESTART: restart,
    }
    return {
        "metadata": {
            "name": pod_name(order.job, order.run, replica.replica),
            "labels": {**labels_of(order), REPLICA: str(replica.replica)},
            "annotations": {name: value for name, value in notes.items() if value},
        },
        "spec": spec,
    }


def again(found: Object, key: str) -> Object:
    """A pod to be made in the place of one that is there, for a rolling restart with this key."""
    meta, spec = found["metadata"], deepcopy(found["spec"])
    spec.pop("nodeName", None)
    return {
        "metadata": {
            "name": meta["name"],
            "labels": meta.get("labels") or {},
            "annotations": {**(meta.get("annotations") or {}), RESTART: key},
        },
        "spec": spec,
    }


# -- parts of a pod --------------------------------------------------------------------------------------------------


def _container(program: PodProgram) -> dict[str, Any]:
    found: dict[str, Any] = {"image": program.image}
    if program.command:
        found["command"] = list(program.command)
    if program.args:
        found["args"] = list(program.args)
    if program.workdir:
        found["workingDir"] = program.workdir
    return found


def _left_by_others(spec: Object, shape: Shape) -> Shape:
    """What the core counted for a replica, less the CPU and memory of containers that run beside the first."""
    beside = spec["containers"][1:]
    along = [one for one in spec.get("initContainers") or () if one.get("restartPolicy") == "Always"]
    others = shape_of({"spec": {"containers": [*beside, *along]}}, (), {})
    return shape._replace(
        cpu_milli=max(0, shape.cpu_milli - others.cpu_milli),
        memory_mib=max(0, shape.memory_mib - others.memory_mib),
    )


def _resources(
    given: Object, shape: Shape, options: KubernetesOptions, gpu_resource: str
) -> dict[str, dict[str, str]]:
    """What the core counted, and nothing else: limits only for GPUs, where Kubernetes wants them equal to the requests."""
    requests = {k: v for k, v in (given.get("requests") or {}).items() if k not in options.gpu_resources}
    limits = {k: v for k, v in (given.get("limits") or {}).items() if k not in options.gpu_resources}
    if shape.cpu_milli:
        requests["cpu"] = f"{shape.cpu_milli}m"
    if shape.memory_mib:
        requests["memory"] = f"{shape.memory_mib}Mi"
    if shape.whole_gpus:
        requests[gpu_resource] = limits[gpu_resource] = str(shape.whole_gpus)
    return {"requests": requests, "limits": limits}


def _variables(
    order: StartOrder, replica: ReplicaOrder, program: PodProgram, options: KubernetesOptions
) -> dict[str, str]:
    """The same variables as a process of the local engine gets: who it is, and for a training run whom it meets where."""
    found = {
        "QUOTATREE_JOB": order.job,
        "QUOTATREE_RUN": str(order.run),
        "QUOTATREE_REPLICA": str(replica.replica),
        "QUOTATREE_NODE": replica.node,
        "QUOTATREE_MODULE": order.module.value,
        "QUOTATREE_GRACE_SECONDS": f"{order.grace_ms / 1000:g}",
    }
    if order.module in NAMED:
        return {**found, "QUOTATREE_PORT": str(program.port)}
    world, rank = str(order.owner.replicas), str(replica.replica)
    master = "127.0.0.1"
    if needs_service(order):
        master = f"r0.{service_name(order)}.{options.namespace(order.workspace)}.svc"
    return {
        **found,
        "RANK": rank,
        "WORLD_SIZE": world,
        "LOCAL_RANK": "0",
        "LOCAL_WORLD_SIZE": "1",
        "MASTER_ADDR": master,
        "MASTER_PORT": str(RENDEZVOUS_PORT),
        "PET_NNODES": world,
        "PET_NODE_RANK": rank,
        "PET_NPROC_PER_NODE": str(max(1, replica.shape.whole_gpus)),
        "PET_MASTER_ADDR": master,
        "PET_MASTER_PORT": str(RENDEZVOUS_PORT),
    }


def _secret_names(order: StartOrder, program: PodProgram) -> list[str]:
    return [*program.secrets, *(["QUOTATREE_TOKEN"] if order.module is Module.DSW else [])]


def _mount(spec: dict[str, Any], main: dict[str, Any], order: StartOrder, program: PodProgram) -> None:
    volumes, mounts = list(program.volumes), list(program.mounts)
    if program.storage:
        volumes.append({"name": "workspace", "persistentVolumeClaim": {"claimName": job_name(order.job)}})
        mounts.append({"name": "workspace", "mountPath": program.storage_path})
    if volumes:
        spec["volumes"] = [*(spec.get("volumes") or ()), *volumes]
    if mounts:
        main["volumeMounts"] = [*(main.get("volumeMounts") or ()), *mounts]


def _address(main: dict[str, Any], order: StartOrder, program: PodProgram) -> None:
    """The port of a notebook or service, and when it is ready: if its health path says so, or its port answers."""
    main.setdefault("ports", [{"containerPort": program.port}])
    probe: dict[str, Any] = {"tcpSocket": {"port": program.port}}
    if program.health:
        probe = {"httpGet": {"path": program.health, "port": program.port}}
    main.setdefault("readinessProbe", {**probe, "periodSeconds": 2, "failureThreshold": 3})


def _place(spec: dict[str, Any], replica: ReplicaOrder, program: PodProgram) -> None:
    affinity = spec.setdefault("affinity", {})
    wanted = affinity.setdefault("nodeAffinity", {})
    here = {"key": "metadata.name", "operator": "In", "values": [replica.node]}
    required = wanted.get("requiredDuringSchedulingIgnoredDuringExecution") or {}
    terms: list[Object] = required.get("nodeSelectorTerms") or [{}]
    wanted["requiredDuringSchedulingIgnoredDuringExecution"] = {
        "nodeSelectorTerms": [
            {**term, "matchFields": [*(term.get("matchFields") or ()), here]} for term in terms
        ]
    }
    if program.node_labels:
        spec["nodeSelector"] = {**(spec.get("nodeSelector") or {}), **program.node_labels}
    if program.tolerations:
        spec["tolerations"] = [*(spec.get("tolerations") or ()), *program.tolerations]
    if program.service_account:
        spec["serviceAccountName"] = program.service_account
    if program.pull_secrets:
        spec["imagePullSecrets"] = [{"name": name} for name in program.pull_secrets]


def _label(text: str) -> str:
    """A text as the value of a label."""
    kept = re.sub(r"[^A-Za-z0-9._-]", "-", text)[:63]
    return kept.strip("-._")
