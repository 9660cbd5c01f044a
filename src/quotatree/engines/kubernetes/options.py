"""How is the engine tuned: which cluster, which names and labels mean what, and how long is waited? Plain values."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from quotatree.engines.kubernetes.adopted import Adoptable

DOMAIN: Final = "quotatree.io"
WARN: Final = "warn"
SUSPEND: Final = "suspend"
LONGEST_NAMESPACE: Final = 63


@dataclass(frozen=True, slots=True)
class KubernetesOptions:
    """`kubeconfig` and `context` None: the cluster of the pod that the server runs in, else the user's own kubeconfig."""

    kubeconfig: Path | None = None
    context: str | None = None
    namespace_prefix: str = "quotatree-"
    """The namespace of workspace `vision` is this and `vision`."""
    gpu_resources: tuple[str, ...] = ("nvidia.com/gpu", "amd.com/gpu")
    """Names under which nodes offer GPUs; the first that a node has counts."""
    model_labels: tuple[str, ...] = ("nvidia.com/gpu.product", "amd.com/gpu.product-name")
    """Labels of nodes that say the model of their GPUs."""
    pool_label: str = f"{DOMAIN}/pool"
    """Label that says the pool of a node; without it, the pool is called as the model, or `default`."""
    rack_label: str = "topology.kubernetes.io/rack"
    zone_label: str = "topology.kubernetes.io/zone"
    priority_class: str = "quotatree"
    """The PriorityClass of our pods, which preempts nobody; made if it is missing."""
    storage_class: str = ""
    """Of the volumes of notebooks; empty: the cluster's default."""
    adopted_kinds: tuple[str, ...] = ("jobs.batch",)
    """Kinds of objects that users make themselves and that are run when their turn comes."""
    other_kinds: tuple[Adoptable, ...] = ()
    """Further kinds, which the installation describes; they are adopted too."""
    bind_seconds: int = 60
    """How long kube-scheduler may take to let a pod have its node before the job is queued again."""
    lost_seconds: int = 60
    """How long a node may be not ready before it counts as lost and its jobs are queued again."""
    gone_seconds: int = 600
    """How long a node that was deleted is shown as lost before it goes away, unless it is made again."""
    output_seconds: int = 86_400
    """How long pods that ended by themselves are kept, for what they printed."""
    start_seconds: int = 600
    """How long a pod may fail to get its image, secrets or volumes before the job is queued again."""
    resources: bool = True
    """Whether quotas and workspaces are read from resources, where the cluster knows these."""
    strays: str = WARN
    """What becomes of pods with GPUs in namespaces of workspaces that no quota has: WARN or SUSPEND."""
    login: str = "off"
    """What names of the cluster's users are here: `name` or `email` of a member; `off`: they cannot log in by them."""
    login_prefix: str = ""
    """What the API server puts before names of people, such as `oidc:`."""

    def namespace(self, workspace: str) -> str:
        """The namespace of a workspace: the prefix and its name. With a hash where no namespace can be called so, since two
        workspaces never share one (W2).
        """
        name = f"{self.namespace_prefix}{workspace}"
        if re.fullmatch(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?", name):
            return name
        kept = re.sub(r"[^a-z0-9]+", "-", name.lower())[: LONGEST_NAMESPACE - 9].strip("-")
        return f"{kept}-{hashlib.sha256(workspace.encode()).hexdigest()[:8]}"
