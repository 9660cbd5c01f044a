"""Pools and nodes: declare, join, cordon, drain, ready again."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from quotatree.client import types as t
from quotatree.client.noun import Noun, name


class Pools(Noun):
    def list(self) -> Sequence[t.PoolOut]:
        found: t.Pools = self._http.get("/pools")
        return found["items"]

    def declare(self, pool: t.PoolIn, *, key: str | None = None) -> t.Done:
        done: t.Done = self._http.create("/pools", pool, key)
        return done

    def remove(self, pool: str) -> t.Done:
        """Take away a pool without nodes from which nobody draws."""
        done: t.Done = self._http.change("DELETE", f"/pools/{name(pool)}")
        return done


class Nodes(Noun):
    def devices(
        self, *, pool: Sequence[str] = (), node: Sequence[str] = (), most: int | None = None
    ) -> Iterator[t.NodeDevicesOut]:
        """Who is on each GPU, node by node."""
        return self._pages("/node-devices", {"pool": tuple(pool), "node": tuple(node)}, most)

    def list(self, *, pool: Sequence[str] = ()) -> Sequence[t.NodeOut]:
        found: t.Nodes = self._http.get("/nodes", {"pool": tuple(pool)})
        return found["items"]

    def get(self, node: str) -> t.NodeOut:
        found: t.NodeOut = self._http.get(f"/nodes/{name(node)}")
        return found

    def join(self, node: t.NodeIn, *, key: str | None = None) -> t.Done:
        done: t.Done = self._http.create("/nodes", node, key)
        return done

    def remove(self, node: str, *, version: int | None = None) -> t.Done:
        """Take an empty node out for good."""
        done: t.Done = self._http.change("DELETE", f"/nodes/{name(node)}", None, version)
        return done

    def cordon(self, node: str, *, version: int | None = None) -> t.Done:
        return self._do(node, "cordon", version)

    def uncordon(self, node: str, *, version: int | None = None) -> t.Done:
        return self._do(node, "uncordon", version)

    def drain(self, node: str, *, version: int | None = None) -> t.Done:
        return self._do(node, "drain", version)

    def _do(self, node: str, verb: str, version: int | None) -> t.Done:
        done: t.Done = self._http.change("POST", f"/nodes/{name(node)}/{verb}", None, version)
        return done
