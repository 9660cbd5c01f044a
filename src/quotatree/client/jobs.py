"""Jobs: submit, list, look at, and everything that can be done to one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from quotatree.client import types as t
from quotatree.client.logs import LogAsked, read_logs
from quotatree.client.noun import Noun, name


class Jobs(Noun):
    def submit(self, job: t.JobIn, *, key: str | None = None) -> t.Submitted:
        """Queue a job. Safe to repeat with the same key: there will be one job."""
        made: t.Submitted = self._http.create("/jobs", job, key)
        return made

    def submit_many(self, jobs: Sequence[t.JobIn], *, key: str | None = None) -> t.SubmittedMany:
        """Up to 1000 in one commit, each with its own outcome."""
        made: t.SubmittedMany = self._http.create("/jobs/batch", {"jobs": list(jobs)}, key)
        return made

    def list(
        self,
        *,
        workspace: Sequence[str] = (),
        quota: Sequence[str] = (),
        owner: Sequence[str] = (),
        name: Sequence[str] = (),
        module: Sequence[str] = (),
        phase: Sequence[str] = (),
        active: bool | None = None,
        submitted_from_ms: int | None = None,
        submitted_before_ms: int | None = None,
        positions: bool = False,
        most: int | None = None,
    ) -> Iterator[t.JobOut]:
        """Newest first. `positions`: with each waiting job's place in its queue."""
        asked = {
            "workspace": tuple(workspace),
            "quota": tuple(quota),
            "owner": tuple(owner),
            "name": tuple(name),
            "module": tuple(module),
            "phase": tuple(phase),
            "active": active,
            "submitted_from_ms": submitted_from_ms,
            "submitted_before_ms": submitted_before_ms,
            "positions": positions or None,
        }
        return self._pages("/jobs", asked, most)

    def get(self, job: str, *, positions: bool = False) -> t.JobOut:
        """`positions`: with its place in the queue, if it waits."""
        found: t.JobOut = self._http.get(f"/jobs/{name(job)}", {"positions": positions or None})
        return found

    def runs(self, job: str) -> Sequence[t.RunOut]:
        found: t.Runs = self._http.get(f"/jobs/{name(job)}/runs")
        return found["items"]

    def explain(self, job: str) -> t.ExplanationOut:
        """Why it waits, what was tried and what would help; or who preempted it."""
        found: t.ExplanationOut = self._http.get(f"/jobs/{name(job)}/explanation")
        return found

    def exposure(self, job: str) -> Sequence[t.ExposureOut]:
        """By whom a running job could be taken, and under which rule."""
        found: t.Exposures = self._http.get(f"/jobs/{name(job)}/exposure")
        return found["items"]

    def history(self, job: str, *, most: int | None = None) -> Iterator[t.DecidedOut]:
        """Every decision about it, newest first."""
        return self._pages(f"/jobs/{name(job)}/history", {}, most)

    def cancel(self, job: str, *, key: str | None = None) -> t.Done:
        done: t.Done = self._http.create(f"/jobs/{name(job)}/cancel", None, key)
        return done

    def set_priority(self, job: str, priority: int) -> t.Done:
        done: t.Done = self._http.change("PUT", f"/jobs/{name(job)}/priority", {"priority": priority})
        return done

    def hold(self, job: str) -> t.Done:
        return self._do(job, "hold")

    def release(self, job: str) -> t.Done:
        return self._do(job, "release")

    def checkpoint(self, job: str) -> t.Done:
        return self._do(job, "checkpoint")

    def stop(self, job: str) -> t.Done:
        """So that it can be started again."""
        return self._do(job, "stop")

    def start(self, job: str) -> t.Done:
        """A stopped job, again."""
        return self._do(job, "start")

    def restart(self, job: str) -> t.Done:
        """The replicas of a running service, one after another; or a stopped job again."""
        return self._do(job, "restart")

    def resize(self, job: str, min_replicas: int | None = None, *, replicas: int | None = None) -> t.Done:
        asked = {"replicas": replicas, "min_replicas": min_replicas}
        body = {key: value for key, value in asked.items() if value is not None}
        done: t.Done = self._http.change("PUT", f"/jobs/{name(job)}/replicas", body)
        return done

    def endpoint(self, job: str) -> t.EndpointOut:
        """Where it answers; `address` is None while it does not."""
        found: t.EndpointOut = self._http.get(f"/jobs/{name(job)}/endpoint")
        return found

    def logs(
        self,
        job: str,
        *,
        replica: int = 0,
        run: int | None = None,
        offset: int | None = None,
        tail_lines: int | None = None,
        limit: int | None = None,
        follow: bool = False,
        gap: Callable[[int], None] = lambda _: None,
    ) -> Iterator[bytes]:
        """What a replica printed, as it printed it. With `follow` until nothing more can come, whatever happens to
        the connection. `gap` is told how many bytes had been thrown away before they could be read."""
        asked = LogAsked(job, replica, run, tail_lines, follow)
        return read_logs(self._http, asked, offset, limit, gap)

    def _do(self, job: str, verb: str) -> t.Done:
        done: t.Done = self._http.change("POST", f"/jobs/{name(job)}/{verb}")
        return done
