"""The nouns of the API without HTTP: what resources declare becomes commands of the loop, by the models of the API itself.

So a field means the same in a request, in a file and in a resource, and is refused in the same words. The actor is RESOURCES:
whoever may write these resources in the cluster (its RBAC) has every right here, within the rule of one owner (E6).
"""

from __future__ import annotations

import builtins
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Final, TypeVar

from pydantic import ValidationError

from quotatree.access.roles import Role
from quotatree.access.values import Workspace
from quotatree.api.models.quota_views import quota_out
from quotatree.api.models.quotas import QuotaChange, QuotaIn, ScaleIn, draws_of
from quotatree.api.models.workspaces import CentreIn, WorkspaceIn, centre_out, workspace_out
from quotatree.control.commands import values as do
from quotatree.control.commands.ownership import OWNER_LABEL, owned
from quotatree.control.commands.values import Answer, Command
from quotatree.control.loop import Controller
from quotatree.control.world import RESOURCES, World
from quotatree.core import QuotaSpec, quota_report
from quotatree.kubernetes_edge.accounts import is_account
from quotatree.manifest.errors import WrongManifest

ANSWER_SECONDS: Final = 60.0
T = TypeVar("T")


class Inside:
    """A target of `quotatree.manifest`. Methods raise what the loop answers: QuotaTreeError."""

    def __init__(self, controller: Controller, owners: Mapping[str, str]) -> None:
        """`owners`: the resource that declares each quota, by the quota's id."""
        self.priorities = _Priorities(controller)
        self.quotas = _Quotas(controller, owners)
        self.workspaces = _Workspaces(controller)


class _Noun:
    def __init__(self, controller: Controller) -> None:
        self._controller = controller

    def _do(self, command: Command) -> Answer:
        return self._controller.call(command).result(ANSWER_SECONDS)

    def _ask(self, query: Callable[[World], T]) -> T:
        return self._controller.ask(lambda world, _: query(world)).result(ANSWER_SECONDS)


class _Priorities(_Noun):
    def names(self) -> dict[str, int]:
        return self._ask(lambda world: dict(world.directory.priority_names))

    def set_names(self, names: Any) -> object:
        raise WrongManifest("names of priorities are not declared by resources")


class _Quotas(_Noun):
    def __init__(self, controller: Controller, owners: Mapping[str, str]) -> None:
        super().__init__(controller)
        self._owners = owners

    def list(self) -> builtins.list[Any]:
        """All quotas as the API shows them, but for the label that says whose they are."""

        def query(world: World) -> builtins.list[Any]:
            return [
                _unowned(quota_out(quota.spec, 0, quota.shrinking, quota_report(world.state, quota.id)))
                for root in world.state.roots
                for quota in root.subtree()
            ]

        return self._ask(query)

    def create(self, quota: Any) -> object:
        spec = _read(QuotaIn, quota).spec()
        return self._do(do.CreateQuota(actor=RESOURCES, spec=self._owned(spec)))

    def update(self, quota: str, change: Any) -> object:
        wanted = _read(QuotaChange, change)
        spec = self._ask(lambda world: world.quota(quota).spec)
        return self._do(do.UpdateQuota(actor=RESOURCES, spec=self._owned(wanted.applied_to(spec))))

    def scale(self, quota: str, to: Any) -> object:
        body = _read(ScaleIn, to)
        return self._do(
            do.ScaleQuota(
                actor=RESOURCES, quota=quota, min=body.bounds(), draws=draws_of(body.draws), mode=body.scale_mode()
            )
        )  # fmt: skip

    def admins(self, quota: str) -> builtins.list[str]:
        return self._ask(
            lambda world: sorted(one.user for one in world.directory.quota_admins if one.quota == quota)
        )

    def appoint(self, quota: str, user: str) -> object:
        return self._do(do.AppointQuotaAdmin(actor=RESOURCES, user=user, quota=quota))

    def dismiss(self, quota: str, user: str) -> object:
        return self._do(do.DismissQuotaAdmin(actor=RESOURCES, user=user, quota=quota))

    def _owned(self, spec: QuotaSpec) -> QuotaSpec:
        return replace(spec, labels=owned(spec, self._owners[spec.id]))


class _Workspaces(_Noun):
    def list(self) -> builtins.list[Any]:
        """All workspaces, without the accounts of namespaces: these are members although no resource says so."""

        def people(world: World, one: Workspace) -> Workspace:
            users = world.directory.users
            return replace(one, members=tuple(m for m in one.members if not is_account(users.get(m.user))))

        return self._ask(
            lambda world: [workspace_out(people(world, one)) for one in world.directory.workspaces.values()]
        )

    def create(self, workspace: Any) -> object:
        body = _read(WorkspaceIn, workspace)
        return self._do(do.CreateWorkspace(actor=RESOURCES, workspace=body.id, description=body.description))

    def describe(self, workspace: str, description: str) -> object:
        return self._do(do.DescribeWorkspace(actor=RESOURCES, workspace=workspace, description=description))

    def add_member(self, workspace: str, user: str, role: str) -> object:
        return self._do(do.AddMember(actor=RESOURCES, workspace=workspace, user=user, role=Role(role)))

    def remove_member(self, workspace: str, user: str, role: str | None = None) -> object:
        taken = None if role is None else Role(role)
        return self._do(do.RemoveMember(actor=RESOURCES, workspace=workspace, user=user, role=taken))

    def bind(self, workspace: str, quota: str) -> object:
        return self._do(do.BindQuota(actor=RESOURCES, workspace=workspace, quota=quota))

    def unbind(self, workspace: str, quota: str) -> object:
        return self._do(do.UnbindQuota(actor=RESOURCES, workspace=workspace, quota=quota))

    def centre(self, workspace: str, quota: str) -> Any:
        return self._ask(lambda world: centre_out(world.directory.centre(workspace, quota), {}))

    def set_centre(self, workspace: str, quota: str, centre: Any) -> object:
        body = _read(CentreIn, centre)
        return self._do(do.SetCentre(actor=RESOURCES, centre=body.centre(workspace, quota)))


def _unowned(quota: Any) -> Any:
    labels = {name: value for name, value in quota["labels"].items() if name != OWNER_LABEL}
    return {**quota, "labels": labels}


def _read(model: type[T], body: object) -> T:
    """The body as the API reads it. Raises WrongManifest, which names the first field that is wrong."""
    try:
        return model.model_validate(body)  # type: ignore[attr-defined, no-any-return]  # T is any model of the API
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        raise WrongManifest(f"{where}: {str(first['msg']).removeprefix('Value error, ')}") from None
