"""Workspaces with their members, quotas and scheduling centres; and webhooks, which send their events elsewhere."""

from __future__ import annotations

from collections.abc import Sequence

from quotatree.client import types as t
from quotatree.client.noun import Noun, name


class Workspaces(Noun):
    def list(self) -> Sequence[t.WorkspaceOut]:
        found: t.Workspaces = self._http.get("/workspaces")
        return found["items"]

    def get(self, workspace: str) -> t.WorkspaceOut:
        found: t.WorkspaceOut = self._http.get(f"/workspaces/{name(workspace)}")
        return found

    def create(self, workspace: t.WorkspaceIn, *, key: str | None = None) -> t.Done:
        done: t.Done = self._http.create("/workspaces", workspace, key)
        return done

    def describe(self, workspace: str, description: str, *, version: int | None = None) -> t.Done:
        body = {"description": description}
        done: t.Done = self._http.change("PATCH", f"/workspaces/{name(workspace)}", body, version)
        return done

    def delete(self, workspace: str, *, version: int | None = None) -> t.Done:
        done: t.Done = self._http.change("DELETE", f"/workspaces/{name(workspace)}", None, version)
        return done

    def add_member(self, workspace: str, user: str, role: str) -> t.Done:
        body = {"user": user, "role": role}
        done: t.Done = self._http.change("POST", f"/workspaces/{name(workspace)}/members", body)
        return done

    def remove_member(self, workspace: str, user: str, role: str | None = None) -> t.Done:
        """Take one role of a member, or all if `role` is None."""
        path = f"/workspaces/{name(workspace)}/members/{name(user)}"
        done: t.Done = self._http.change("DELETE", path, params={"role": role})
        return done

    def bind(self, workspace: str, quota: str) -> t.Done:
        done: t.Done = self._http.change("PUT", f"/workspaces/{name(workspace)}/quotas/{name(quota)}")
        return done

    def unbind(self, workspace: str, quota: str) -> t.Done:
        done: t.Done = self._http.change("DELETE", f"/workspaces/{name(workspace)}/quotas/{name(quota)}")
        return done

    def centre(self, workspace: str, quota: str) -> t.CentreOut:
        """The scheduling centre of one binding."""
        found: t.CentreOut = self._http.get(f"/workspaces/{name(workspace)}/quotas/{name(quota)}/centre")
        return found

    def set_centre(
        self, workspace: str, quota: str, centre: t.CentreIn, *, version: int | str = "*"
    ) -> t.Done:
        path = f"/workspaces/{name(workspace)}/quotas/{name(quota)}/centre"
        done: t.Done = self._http.change("PUT", path, centre, version)
        return done


class Webhooks(Noun):
    def list(self) -> Sequence[t.WebhookOut]:
        found: t.Webhooks = self._http.get("/webhooks")
        return found["items"]

    def get(self, webhook: str) -> t.WebhookOut:
        found: t.WebhookOut = self._http.get(f"/webhooks/{name(webhook)}")
        return found

    def create(self, webhook: t.WebhookIn, *, key: str | None = None) -> t.Done:
        done: t.Done = self._http.create("/webhooks", webhook, key)
        return done

    def replace(self, webhook: str, by: t.WebhookChange, *, version: int | str = "*") -> t.Done:
        done: t.Done = self._http.change("PUT", f"/webhooks/{name(webhook)}", by, version)
        return done

    def delete(self, webhook: str) -> t.Done:
        done: t.Done = self._http.change("DELETE", f"/webhooks/{name(webhook)}")
        return done
