"""Jobs: submit, list, look at, and everything that can be done to one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from quotatree.client import types as t
from quotatree.client.logs import LogAsked, read_logs
from quotatree.client.noun import Noun, name


class Jobs(Noun):
    def submit(self, job: t.JobIn, *, key: str | None = None) -> t.Submitted:
        """Queue a job. Repeating it with the same key is safe: only one job is made."""
        made: t.Submitted = self._http.create("/jobs", job, key)
        return made

    def submit_many(self, jobs: Sequence[t.JobIn], *, key: str | None = None) -> t.SubmittedMany:
        """Queue up to 1000 jobs in one commit; each has its own outcome."""
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
        priority: Sequence[int] = (),
        part: str | None = None,
        below: bool = False,
        active: bool | None = None,
        submitted_from_ms: int | None = None,
        submitted_before_ms: int | None = None,
        positions: bool = False,
        sort: str | None = None,
        most: int | None = None,
    ) -> Iterator[t.JobOut]:
        """Jobs, newest first or as `sort` says. With `positions`, each waiting job has its place in the queue.

        `part`: of the name or id; `below`: of the quotas below those named, too.
        """
        asked = {
            "workspace": tuple(workspace),
            "quota": tuple(quota),
            "owner": tuple(owner),
            "name": tuple(name),
            "module": tuple(module),
            "phase": tuple(phase),
            "priority": tuple(priority),
            "part": part,
            "below": below or None,
            "active": active,
            "submitted_from_ms": submitted_from_ms,
            "submitted_before_ms": submitted_before_ms,
            "positions": positions or None,
            "sort": sort,
        }
        return self._pages("/jobs", asked, most)

    def get(self, job: str, *, positions: bool = False) -> t.JobOut:
        """One job; with `positions` and its place in the queue if it waits."""
        found: t.JobOut = self._http.get(f"/jobs/{name(job)}", {"positions": positions or None})
        return found

    def exposures(self, jobs: Sequence[str]) -> Sequence[t.JobExposures]:
        """By whom each of up to 100 running jobs could be taken; others are left out."""
        found: t.ManyExposures = self._http.get("/exposures", {"job": tuple(jobs)})
        return found["items"]

    def runs(self, job: str) -> Sequence[t.RunOut]:
        found: t.Runs = self._http.get(f"/jobs/{name(job)}/runs")
        return found["items"]

    def explain(self, job: str, *, estimate: bool = False) -> t.ExplanationOut:
        """Why the job waits, what was tried and what would help; or what preempted it. `estimate`: also when it will start."""
        found: t.ExplanationOut = self._http.get(
            f"/jobs/{name(job)}/explanation", {"estimate": estimate or None}
        )
        return found

    def exposure(self, job: str) -> Sequence[t.ExposureOut]:
        """The quotas whose jobs could preempt this running job, and by which rule."""
        found: t.Exposures = self._http.get(f"/jobs/{name(job)}/exposure")
        return found["items"]

    def history(self, job: str, *, most: int | None = None) -> Iterator[t.DecidedOut]:
        """Every decision about the job, newest first."""
        return self._pages(f"/jobs/{name(job)}/history", {}, most)

    def cancel(self, job: str, *, key: str | None = None) -> t.Done:
        done: t.Done = self._http.create(f"/jobs/{name(job)}/cancel", None, key)
        return done

    def set_priority(self, job: str, priority: int | str) -> t.Done:
        done: t.Done = self._http.change("PUT", f"/jobs/{name(job)}/priority", {"priority": priority})
        return done

    def hold(self, job: str) -> t.Done:
        return self._do(job, "hold")

    def release(self, job: str) -> t.Done:
        return self._do(job, "release")

    def checkpoint(self, job: str) -> t.Done:
        return self._do(job, "checkpoint")

    def stop(self, job: str) -> t.Done:
        """Stop the job so that it can be started again."""
        return self._do(job, "stop")

    def start(self, job: str) -> t.Done:
        """Start a stopped job again."""
        return self._do(job, "start")

    def restart(self, job: str) -> t.Done:
        """Restart the replicas of a running service one after another, or start a stopped job again."""
        return self._do(job, "restart")

    def resize(
        self, job: str, min_replicas: int | None = None, *, replicas: int | None = None, max_replicas: int | None = None
    ) -> t.Done:  # fmt: skip
        asked = {"replicas": replicas, "min_replicas": min_replicas, "max_replicas": max_replicas}
        body = {key: value for key, value in asked.items() if value is not None}
        done: t.Done = self._http.change("PUT", f"/jobs/{name(job)}/replicas", body)
        return done

    def set_autoscale(self, job: str, autoscale: t.AutoscaleIn) -> t.Done:
        """Let the replicas of a service follow its demand (P16)."""
        done: t.Done = self._http.change("PUT", f"/jobs/{name(job)}/autoscale", autoscale)
        return done

    def drop_autoscale(self, job: str) -> t.Done:
        """Follow demand no more; the replicas stay as they are now."""
        done: t.Done = self._http.change("DELETE", f"/jobs/{name(job)}/autoscale")
        return done

    def endpoint(self, job: str) -> t.EndpointOut:
        """Where the job can be reached; `address` is None while it cannot."""
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
        """Yield the output of a replica as it was printed.

        With `follow` it goes on until the log is complete, also over broken connections. `gap` is called with the
        number of bytes that were discarded before they could be read.
        """
        asked = LogAsked(job, replica, run, tail_lines, follow)
        return read_logs(self._http, asked, offset, limit, gap)

    def _do(self, job: str, verb: str) -> t.Done:
        done: t.Done = self._http.change("POST", f"/jobs/{name(job)}/{verb}")
        return done
