"""What else does a server on a cluster have? The edge that reads its objects, and a way in for its users."""

from __future__ import annotations

from quotatree.api.services import ClusterLogins
from quotatree.api.settings import ServerSettings
from quotatree.control.errors import Unavailable
from quotatree.control.loop import Controller
from quotatree.identity.cluster_users import OFF, ClusterNames
from quotatree.kubernetes_edge.edge import Edge, EdgeSettings
from quotatree.store import Store


def edge_of(settings: ServerSettings, controller: Controller, store: Store) -> Edge | None:
    """The edge of the cluster, with connections of its own; None for a server without a cluster."""
    if settings.engine != "kubernetes":
        return None
    from quotatree.engines.kubernetes.adopted import sorts_of
    from quotatree.engines.kubernetes.client import connect

    options = settings.kubernetes
    wanted = EdgeSettings(
        sorts=sorts_of(options.adopted_kinds, options.other_kinds),
        resources=options.resources,
        namespace_prefix=options.namespace_prefix,
        gpu_names=tuple(options.gpu_resources),
        strays=options.strays,
    )
    return Edge(controller, store, connect(options.kubeconfig, options.context), wanted)


def cluster_logins_of(settings: ServerSettings) -> ClusterLogins | None:
    """How users of the cluster log in; None where that is switched off."""
    options = settings.kubernetes
    if settings.engine != "kubernetes" or options.login == OFF:
        return None
    from quotatree.engines.kubernetes.client import connect
    from quotatree.engines.kubernetes.errors import ClusterError
    from quotatree.engines.kubernetes.token_review import reviewed

    cluster = connect(options.kubeconfig, options.context)

    def review(token: str) -> str | None:
        try:
            return reviewed(cluster, token)
        except ClusterError as error:
            raise Unavailable(f"the cluster cannot be asked: {error}") from error

    return ClusterLogins(ClusterNames(options.login, options.login_prefix), review)
