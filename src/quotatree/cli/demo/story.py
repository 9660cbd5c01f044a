"""What happens in the demo, act by act, with what must be seen in each."""

from __future__ import annotations

import json
import math
import threading
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlencode

import httpx2

from quotatree.cli.demo import cast as cast
from quotatree.cli.demo.stage import ADMIN, Stage, StageFailed
from quotatree.cli.demo.telling import Teller
from quotatree.cli.words import why
from quotatree.client.errors import ClientError, NotFound

if TYPE_CHECKING:
    from quotatree.client import types as t

PATIENCE_SECONDS: Final = 60.0
POLL_SECONDS: Final = 0.1
LAST_WORDS: Final = 12
UNSAVED_SECONDS: Final = 6.0
CELLS: Final = ("answer = 6 * 7", "print(answer)")


class Story:
    def __init__(self, stage: Stage, tell: Teller) -> None:
        self._stage = stage
        self._tell = tell
        self._ids: dict[str, str] = {}
        self._events: SimpleQueue[t.EventOut] = SimpleQueue()
        self._saved: set[str] = set()
        self.admin = stage.client(ADMIN)
        self.ada, self.bob, self.cai = (stage.client(user) for user, _ in cast.TEAMS.values())

    def play(self) -> None:
        threading.Thread(target=self._listen, name="demo-events", daemon=True).start()
        self.teams_fill_the_cluster()
        self.one_more_waits()
        self.a_service_arrives()
        self.each_sees_its_own()
        self.a_notebook_makes_room()
        self.gpus_are_moved()
        self.the_service_ends()

    # -- the acts ------------------------------------------------------------------------------------------------

    def teams_fill_the_cluster(self) -> None:
        tell = self._tell
        tell.act("Training in workspace-b and notebooks in workspace-c fill 48 + 80 GPUs")
        self._submit(self.bob, cast.training())
        self._submit(self.cai, cast.notebooks())
        names = [job["name"] for job in (*cast.training(), *cast.notebooks())]
        tell.expect(self._until(lambda: self._running(names)), f"{len(names)} jobs run as real processes")
        tell.expect(self._until(lambda: "begins" in self._log("sweep-a")), "their output can be read:")
        tell.quote(self._log("sweep-a"))
        tell.expect(
            self._until(lambda: self._type(CELLS[0])),
            f"cai types a cell into the notebook scratch: {CELLS[0]}",
        )
        self._show_tree("every GPU is in use:")
        tell.expect(
            self._used() == {"Quota1": 128, "Quota1.1": 48, "Quota1.2": 80}, "128 = 48 + 80 GPUs are used"
        )

    def one_more_waits(self) -> None:
        self._tell.act("Bob submits one job more. It waits, and Bob may ask why")
        self._submit(self.bob, [cast.extra()])
        self._until(lambda: self._job("extra")["reason"] is not None)
        told = self.bob.jobs.explain(self._ids["extra"])
        for reason in told["reasons"]:
            self._tell.quote(why(reason))
        self._tell.expect(
            told["phase"] == "Waiting" and bool(told["reasons"]), "extra waits, with all reasons in numbers"
        )

    def a_service_arrives(self) -> None:
        tell = self._tell
        tell.act("Ada deploys an inference service, 2 x 8 GPUs, on Quota1 itself. Other jobs have to go")
        # Wait until sweep-b, which does not save, has more to lose than the jobs that do, and until the server has
        # heard of what they saved: on a slow machine both take longer.
        self._until(lambda: self._seconds_run("sweep-b") >= UNSAVED_SECONDS)
        self._until(lambda: self._type(CELLS[1]))
        self._saved.clear()
        self._until(lambda: {self._ids["sweep-a"], self._ids["scratch"]} <= self._saved)
        asked = self.ada.preview([{"change": "submit", "job": cast.service()}])
        would = [one for one in asked["decisions"] if one["kind"] == "Evict"]
        tell.say(f"a preview says beforehand: {len(would)} jobs of the quotas below would be evicted")
        began = time.monotonic()
        self._submit(self.ada, [cast.service()])
        answered = self._until(lambda: self._replicas_answering() == {0, 1})
        seconds = time.monotonic() - began
        tell.expect(
            answered, f"the service answers from both replicas {seconds:.1f} s after it was submitted"
        )
        taken = self._ledger_entry()
        for victim in taken["victims"] if taken else ():
            tell.quote(
                f"victim {victim['job']} of {victim['quota']}, priority {victim['priority']}: lost "
                f"{victim['lost_gpu_seconds']:,.0f} GPU-s, cost {victim['cost_gpu_seconds']:,.0f}"
            )
        victims = {tell.names.get(victim["job"]) for victim in taken["victims"]} if taken else set()
        tell.expect(
            victims == {"sweep-a", "scratch"},
            "the cheapest two of priority 1 went, who had saved last: sweep-a and scratch; sweep-b was spared",
        )
        tell.expect("was told to leave, saved" in self._log("sweep-a"), "sweep-a used its notice to save:")
        tell.quote(_last_line(self._log("sweep-a")))
        tell.expect(
            self._phase("sweep-a") == "Waiting" and self._phase("scratch") == "Waiting",
            "both are queued again",
        )
        self._show_tree("Quota1 stands on what its children cannot use now (x):")

    def each_sees_its_own(self) -> None:
        tell = self._tell
        tell.act("Each team sees and manages only its own")
        for client, workspace, expected in (
            (self.ada, "workspace-a", 1),
            (self.bob, "workspace-b", len(cast.training()) + 1),
            (self.cai, "workspace-c", len(cast.notebooks())),
        ):
            seen = list(client.jobs.list())
            tell.expect(
                len(seen) == expected and {job["workspace"] for job in seen} == {workspace},
                f"{cast.TEAMS[workspace][0]} sees {len(seen)} job{'s'[: len(seen) > 1]}, of {workspace} only",
            )
        tell.expect(
            self._refused(lambda: self.cai.jobs.get(self._ids["tune"])), "for cai there is no job of bob's"
        )
        tell.expect(
            self._refused(lambda: self.bob.jobs.cancel(self._ids["service"])),
            "nor can bob cancel ada's service",
        )

    def a_notebook_makes_room(self) -> None:
        tell = self._tell
        tell.act("Cai stops a notebook for today; in its place scratch comes back, with what was in it")
        self.cai.jobs.stop(self._ids["notebook-9"])
        tell.expect(
            self._until(lambda: self._cells() == list(CELLS)),
            f"scratch runs again, with {' and '.join(CELLS)}",
        )
        tell.expect(self._phase("notebook-9") == "Stopped", "notebook-9 is stopped, its directory kept")

    def gpus_are_moved(self) -> None:
        tell = self._tell
        tell.act("The admin moves 8 GPUs from Quota1.2 to Quota1.1")
        self.admin.quotas.transfer(
            {"source": cast.NOTEBOOK_QUOTA, "target": cast.TRAINING_QUOTA, "amount": {"gpus": 8}}
        )
        self._show_tree("48 became 56, 80 became 72, and no job had to go:")
        sizes = {quota["id"]: quota["usage"]["desired"]["gpus"] for quota in self.admin.quotas.list()}
        tell.expect(sizes == {"Quota1": 128, "Quota1.1": 56, "Quota1.2": 72}, "the new sizes are 56 and 72")

    def the_service_ends(self) -> None:
        tell = self._tell
        tell.act("Ada ends the service; the last victim comes back from its checkpoint, and extra has room")
        self.ada.jobs.cancel(self._ids["service"])
        tell.expect(self._until(lambda: self._running(["sweep-a", "extra"])), "sweep-a and extra run")
        tell.expect(
            self._until(lambda: "; 0 steps were lost" in self._log("sweep-a")),
            "sweep-a goes on where it was:",
        )
        tell.quote(next((line for line in self._log("sweep-a").splitlines() if "continues" in line), ""))
        self._show_tree("every GPU is in use again:")
        tell.expect(
            self._used() == {"Quota1": 128, "Quota1.1": 56, "Quota1.2": 72}, "128 = 56 + 72 GPUs are used"
        )

    # -- what they do ---------------------------------------------------------------------------------------------

    def _submit(self, client: Any, jobs: Iterable[t.JobIn]) -> None:
        asked = list(jobs)
        for job, made in zip(asked, client.jobs.submit_many(asked)["items"], strict=True):
            if made["id"] is None:
                raise StageFailed(f"{job['name']} was refused: {made['problem']}")
            self._ids[job["name"]] = made["id"]
            self._tell.names[made["id"]] = job["name"]

    def _until(self, condition: Callable[[], bool]) -> bool:
        """Tell what happens until the condition holds; False if it does not within
        PATIENCE_SECONDS.
        """
        until = time.monotonic() + PATIENCE_SECONDS
        while True:
            try:
                seen = condition()
            except (ClientError, httpx2.HTTPError):
                seen = False
            self._tell_events()
            if seen or time.monotonic() > until:
                return seen
            time.sleep(POLL_SECONDS)

    def _listen(self) -> None:
        try:
            for event in self.admin.events.watch(after=0):
                self._events.put(event)
        except Exception:  # the server has ended
            return

    def _tell_events(self) -> None:
        while True:
            try:
                event = self._events.get_nowait()
            except Empty:
                return
            self._tell.event(event)
            job = event["job"] or ""
            if event["kind"] == "job.checkpointed":
                self._saved.add(job)
            elif event["kind"] == "job.ended":
                self._quote_last_words(job)

    def _quote_last_words(self, job: str) -> None:
        """No job of the story ends by itself: should one do, its output says why."""
        with suppress(ClientError, httpx2.HTTPError):
            said = b"".join(self.admin.jobs.logs(job)).decode(errors="replace")
            self._tell.quote("\n".join(said.splitlines()[-LAST_WORDS:]))

    # -- what they see --------------------------------------------------------------------------------------------

    def _job(self, name: str) -> t.JobOut:
        return self.admin.jobs.get(self._ids[name])

    def _phase(self, name: str) -> str:
        return self._job(name)["phase"]

    def _running(self, names: Iterable[str]) -> bool:
        wanted = {self._ids[name] for name in names}
        jobs = {job["id"]: job for job in self.admin.jobs.list(phase=["Running"])}
        return wanted <= jobs.keys() and all(self._confirmed(jobs[job]) for job in wanted)

    def _confirmed(self, job: t.JobOut) -> bool:
        """Whether the engine has confirmed that the job's present run really runs."""
        return any(
            run["confirmed_ms"] is not None
            for run in self.admin.jobs.runs(job["id"])
            if run["run"] == job["run"]
        )

    def _seconds_run(self, name: str) -> float:
        started_ms = [run["confirmed_ms"] for run in self.admin.jobs.runs(self._ids[name])]
        return time.time() - (started_ms[-1] or math.inf) / 1000

    def _log(self, name: str) -> str:
        return b"".join(self.admin.jobs.logs(self._ids[name])).decode(errors="replace")

    def _type(self, cell: str) -> bool:
        return (
            httpx2.post(self._scratch(), content=urlencode({"cell": cell})).status_code
            == httpx2.codes.CREATED
        )

    def _cells(self) -> list[str]:
        page = httpx2.get(self._scratch()).text
        return [part.partition("</pre>")[0] for part in page.split("<pre>")[1:]]

    def _scratch(self) -> str:
        endpoint = self.cai.jobs.endpoint(self._ids["scratch"])
        return f"{endpoint['address'] or ''}?token={endpoint['token']}"

    def _replicas_answering(self) -> set[int]:
        endpoint = self.ada.jobs.endpoint(self._ids["service"])
        if endpoint["address"] is None or endpoint["ready"] < 2:
            return set()
        address = endpoint["address"]
        return {json.loads(httpx2.get(address).text)["replica"] for _ in range(8)}

    def _ledger_entry(self) -> t.PreemptionOut | None:
        entries = list(self.admin.preemptions.list(job=self._ids["service"]))
        return entries[0]["preemption"] if entries else None

    def _refused(self, look: Callable[[], Any]) -> bool:
        try:
            look()
        except NotFound:
            return True
        return False

    def _used(self) -> dict[str, float]:
        return {
            quota["id"]: quota["usage"]["used_own"].get("gpus", 0)
            + quota["usage"]["used_below"].get("gpus", 0)
            for quota in self.admin.quotas.list()
        }

    def _show_tree(self, title: str) -> None:
        self._tell_events()
        self._tell.tree(self.admin.quotas.list(), title)


def _last_line(text: str) -> str:
    return text.rstrip().rpartition("\n")[2]
