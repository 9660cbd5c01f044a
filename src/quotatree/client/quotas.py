"""Quotas: the tree and its figures; create, change, scale, transfer, delete, return a loan; who administers them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from quotatree.client import types as t
from quotatree.client.noun import Noun, name


class Quotas(Noun):
    def list(self) -> Sequence[t.QuotaOut]:
        """All visible quotas, parents before their children."""
        found: t.Quotas = self._http.get("/quotas")
        return found["items"]

    def get(self, quota: str) -> t.QuotaOut:
        found: t.QuotaOut = self._http.get(f"/quotas/{name(quota)}")
        return found

    def queue(self, quota: str, *, most: int | None = None) -> Iterator[t.QueuePlace]:
        """The jobs that wait in the quota, in order."""
        return self._pages(f"/quotas/{name(quota)}/queue", {}, most)

    def users(self, quota: str, *, below: bool = False) -> Sequence[t.QuotaUserOut]:
        """Who uses the quota and waits for how much, largest use first. `below`: with the quotas below it."""
        found: t.QuotaUsers = self._http.get(f"/quotas/{name(quota)}/users", {"below": below or None})
        return found["items"]

    def create(self, quota: t.QuotaIn, *, key: str | None = None) -> t.Done:
        done: t.Done = self._http.create("/quotas", quota, key)
        return done

    def update(self, quota: str, change: t.QuotaChange, *, version: int | None = None) -> t.Done:
        """Change the fields that are given. A field that is left out stays; None removes a setting."""
        done: t.Done = self._http.change("PATCH", f"/quotas/{name(quota)}", change, version)
        return done

    def scale(self, quota: str, to: t.ScaleIn, *, version: int | None = None) -> t.Done:
        done: t.Done = self._http.change("POST", f"/quotas/{name(quota)}/scale", to, version)
        return done

    def transfer(self, what: t.TransferIn, *, key: str | None = None) -> t.Done:
        """Move capacity from one child to its sibling, in one step."""
        done: t.Done = self._http.create("/quota-transfers", what, key)
        return done

    def delete(self, quota: str, *, version: int | None = None) -> t.Done:
        done: t.Done = self._http.change("DELETE", f"/quotas/{name(quota)}", None, version)
        return done

    def return_loan(self, quota: str, *, key: str | None = None) -> t.Done:
        done: t.Done = self._http.create(f"/quotas/{name(quota)}/return-loan", None, key)
        return done

    def policies(self, quota: str) -> t.PoliciesOut:
        found: t.PoliciesOut = self._http.get(f"/quotas/{name(quota)}/policies")
        return found

    def pai_policies(self, quota: str) -> t.PaiOut:
        """The policies in the spelling of Alibaba Cloud PAI."""
        found: t.PaiOut = self._http.get(f"/quotas/{name(quota)}/policies", {"spelling": "pai"})
        return found

    def set_policies(self, quota: str, policies: t.PoliciesIn, *, version: int | str = "*") -> t.Done:
        done: t.Done = self._http.change("PUT", f"/quotas/{name(quota)}/policies", policies, version)
        return done

    def history(self, quota: str, *, after: int = 0) -> Sequence[t.EventOut]:
        """Events of the quota with a number above `after`, oldest first, at most 500."""
        found: t.EventPage = self._http.get(f"/quotas/{name(quota)}/history", {"after": after, "limit": 500})
        return found["items"]

    def series(
        self, quota: str, *, since_ms: int | None = None, until_ms: int | None = None, step: str | None = None
    ) -> t.QuotaSeries:
        """The figures of the quota over time. `step`: minute, hour or day; None: one that fits the time asked for."""
        asked = {"since": since_ms, "until": until_ms, "step": step}
        found: t.QuotaSeries = self._http.get(f"/quotas/{name(quota)}/series", asked)
        return found

    def admins(self, quota: str) -> Sequence[str]:
        found: t.QuotaAdmins = self._http.get(f"/quotas/{name(quota)}/admins")
        return found["users"]

    def appoint(self, quota: str, user: str) -> t.Done:
        done: t.Done = self._http.change("PUT", f"/quotas/{name(quota)}/admins/{name(user)}")
        return done

    def dismiss(self, quota: str, user: str) -> t.Done:
        done: t.Done = self._http.change("DELETE", f"/quotas/{name(quota)}/admins/{name(user)}")
        return done
