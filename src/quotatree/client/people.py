"""Users, their tokens, and how a user gets a token in the first place."""

from __future__ import annotations

from collections.abc import Sequence

from quotatree.client import types as t
from quotatree.client.noun import Noun, name


class Users(Noun):
    def list(self) -> Sequence[t.UserOut]:
        found: t.Users = self._http.get("/users")
        return found["items"]

    def get(self, user: str) -> t.UserOut:
        found: t.UserOut = self._http.get(f"/users/{name(user)}")
        return found

    def create(self, user: t.UserIn, *, key: str | None = None) -> t.Done:
        done: t.Done = self._http.create("/users", user, key)
        return done

    def update(self, user: str, change: t.UserChange, *, version: int | None = None) -> t.Done:
        done: t.Done = self._http.change("PATCH", f"/users/{name(user)}", change, version)
        return done

    def set_password(self, user: str, password: str) -> t.Done:
        done: t.Done = self._http.change("PUT", f"/users/{name(user)}/password", {"password": password})
        return done


class Tokens(Noun):
    def list(self, *, user: str | None = None) -> Sequence[t.TokenOut]:
        found: t.Tokens = self._http.get("/tokens", {"user": user})
        return found["items"]

    def create(self, token: t.TokenIn) -> t.NewTokenOut:
        """Make a token. Only this answer shows its text."""
        made: t.NewTokenOut = self._http.change("POST", "/tokens", token)
        return made

    def revoke(self, token: str) -> t.Done:
        done: t.Done = self._http.change("DELETE", f"/tokens/{name(token)}")
        return done


class Logins(Noun):
    """Ways in: a token for a client that has none, a browser's session for one that has."""

    def ways(self) -> t.LoginWays:
        found: t.LoginWays = self._http.get("/login-ways")
        return found

    def link(self) -> t.LoginLinkOut:
        """A path on the server that opens the console as this client's user, once and soon."""
        made: t.LoginLinkOut = self._http.change("POST", "/login-links")
        return made

    def by_cluster(self, token: str) -> t.DeviceTokenOut:
        """A token of the server for whoever has this token in the server's cluster."""
        made: t.DeviceTokenOut = self._http.change("POST", "/kubernetes/token", {"token": token})
        return made

    def by_password(self, user: str, password: str, token: t.TokenIn) -> t.NewTokenOut:
        """Sign in, make a token, sign out: a terminal keeps a token, not a session."""
        session: t.SessionOut = self._http.change("POST", "/session", {"user": user, "password": password})
        key = {"Authorization": f"Bearer {session['key']}"}
        made: t.NewTokenOut = self._http.change("POST", "/tokens", token, headers=key)
        self._http.change("DELETE", "/session", headers=key)
        return made

    def begin_device(self) -> t.DeviceOut:
        """Begin a device login. Show the code and the address to the user, then call `finish_device` with the handle."""
        begun: t.DeviceOut = self._http.change("POST", "/oidc/device")
        return begun

    def finish_device(self, handle: str) -> t.DeviceTokenOut:
        """The token of a device login; raises Pending until the user has confirmed."""
        made: t.DeviceTokenOut = self._http.change("POST", "/oidc/device/token", {"handle": handle})
        return made
