"""What-if runs on the server: start, follow, forget."""

from __future__ import annotations

from collections.abc import Sequence

from quotatree.client import types as t
from quotatree.client.noun import Noun, name


class Simulations(Noun):
    def start(self, wanted: t.SimulationIn) -> t.SimulationMade:
        """Queue a what-if run: stored jobs are replayed with other policies or another tree."""
        made: t.SimulationMade = self._http.change("POST", "/simulations", wanted)
        return made

    def list(self) -> Sequence[t.SimulationOut]:
        found: t.Simulations = self._http.get("/simulations")
        return found["items"]

    def get(self, simulation: str) -> t.SimulationOut:
        """One run with its progress, and its results as far as there are any."""
        found: t.SimulationOut = self._http.get(f"/simulations/{name(simulation)}")
        return found

    def delete(self, simulation: str) -> t.Done:
        """Forget a run; one that waits or plays is cancelled."""
        done: t.Done = self._http.change("DELETE", f"/simulations/{name(simulation)}")
        return done
