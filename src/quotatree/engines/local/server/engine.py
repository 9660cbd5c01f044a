"""Who runs jobs as real processes on this machine? The server's side: it writes orders, and reads what supervisors tell.

Nothing that matters is only in memory here. Each run has a directory with its orders and its journal, and a supervisor of
its own that lives on when the server dies; whoever opens the directory again finds what runs and what has ended since.
A run whose supervisor was killed is cleared away and then reported lost; until then its devices are taken.
"""

from __future__ import annotations

import contextlib
import functools
import logging
import os
import socket
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

from quotatree.core import JobId, JobSpec, Module, NodeSpec
from quotatree.engines.base import (
    Capabilities,
    Confirmed,
    DeviceUse,
    Endpoint,
    EngineUnavailable,
    LogPiece,
    Observed,
    Place,
    Program,
    Report,
    RestartOrder,
    Running,
    StartOrder,
    StopOrder,
    lacks,
)
from quotatree.engines.local.files import journal
from quotatree.engines.local.files.layout import EngineDir
from quotatree.engines.local.host import cgroups, open_files
from quotatree.engines.local.host.devices import HealthWatch
from quotatree.engines.local.server import birth, disk_use, keep, orders, removed_files
from quotatree.engines.local.server.disk_use import DiskSettings
from quotatree.engines.local.server.known import Key, KnownRun, read_run, runs_on_disk
from quotatree.engines.local.server.log_reader import read_log
from quotatree.engines.local.server.premises import Premises
from quotatree.engines.local.server.program import BadProgram, parse
from quotatree.engines.local.server.remains import Clearer
from quotatree.engines.local.server.rounds import Rounds
from quotatree.engines.local.server.teller import Teller
from quotatree.engines.local.server.unix_users import UserSettings
from quotatree.engines.local.server.watch import Watch
from quotatree.engines.local.server.workdir_check import WorkdirCheck
from quotatree.engines.local.supervisor.nursery import Nursery

log = logging.getLogger(__name__)

HEALTH_SECONDS: Final = 5.0
DISK_SECONDS: Final = 10.0
KEEP_HOUSE_SECONDS: Final = 3_600.0


class LocalEngine:
    def __init__(
        self,
        directory: Path,
        *,
        run_as: str | None = None,
        users: UserSettings = UserSettings(),  # noqa: B008 - frozen
        disk: DiskSettings = DiskSettings(),  # noqa: B008 - a value
        nodes: Sequence[NodeSpec] = (),
        limits: bool = True,
        health: HealthWatch | None = None,
    ) -> None:
        """`run_as`: user of the jobs; None: the server's own. `users`: those of workspaces that have their own. `limits`: hold replicas to their CPUs and memory where this
        machine permits it. `health`: watch of the real GPUs; None if there are none.
        """
        self._premises = Premises(directory, run_as, users, jobs=disk.jobs)
        self._job_mib = disk.job_mib
        self._workdirs = WorkdirCheck()
        self._nursery = Nursery(birth.SOURCE)
        self._directory: EngineDir = self._premises.directory
        self.nodes = tuple(nodes)
        self._limits = limits
        self._health = health
        self._runs: dict[Key, KnownRun] = {}
        self._clearer = Clearer(without_directory=self._directory_is_gone, done=self._woken)
        self._teller = Teller()
        self._rounds = Rounds()
        self._watch: Watch | None = None
        self._state = threading.RLock()
        self.make_room: Callable[[], bool] = lambda: False
        """Called when an order does not fit on the disk; True if there is room now."""

    @property
    def capabilities(self) -> Capabilities:
        shared = self._premises.users.shared_by_all
        return Capabilities(
            "local", frozenset(Module), logs=True, endpoints=True, in_flight=True, one_team=shared
        )

    @property
    def place(self) -> Place:
        return Place(self._premises.engine_id, f"{socket.gethostname()}:{self._directory.path}")

    @property
    def notices(self) -> tuple[str, ...]:
        """What the operator of this server should know: limits that cannot be kept, and the like."""
        with self._state:
            said = [notice for run in self._runs.values() for notice in run.notices]
        return tuple(dict.fromkeys([*self._premises.notices, *said]))

    def refuses(self, job: JobSpec, program: Program) -> str | None:
        if self._premises.refusal is not None:
            return self._premises.refusal
        try:
            refusal = self._workdirs.why_not(self._premises.user(job.workspace), program.get("workdir"))
            if refusal is not None:
                return refusal
            parse(program, job.module, job.most_replicas)
        except (BadProgram, LookupError) as error:
            return str(error)
        return lacks(self.capabilities, job)

    def open(self, report: Callable[[Report], None]) -> None:
        """Take over the runs on disk and begin to report. Raises EngineUnavailable where the directory cannot be used."""
        try:
            self._premises.prepare()
            cgroups.make_room()
            open_files.allow_many()
            self._nursery.warm_up()
            watch = Watch(
                self._directory.wake,
                woken=self._woken,
                load=self._loaded,
                ended=self._ended,
                sweep=self._sweep,
            )
        except OSError as error:
            raise EngineUnavailable(f"{self._directory.path}: {error.strerror or error}") from error
        with self._state:
            self._watch = watch
            for run in runs_on_disk(self._directory):
                if run.key not in self._runs:
                    self._take_over(run)
            self._teller.begin(report)
        watch.start()
        self._begin_rounds()

    def start(self, order: StartOrder) -> None:
        key = (order.job, order.run)
        with self._state:
            run = self._runs.get(key) or self._kept(key)
            replicas = tuple(one.replica for one in order.replicas)
            if run is None:
                self._begin(order)
            elif run.over or run.forgotten:
                self._teller.collect([run.conclusion(replicas)])
            else:
                new = [one for one in order.replicas if one.replica not in run.replicas]
                if new:
                    orders.give(run, orders.start(new), self.make_room)
                    run.replicas.update(one.replica for one in new)
                again = tuple(replica for replica in replicas if replica in run.confirmed)
                if again:
                    self._teller.collect([Confirmed(*key, again)])
        self._teller.tell()

    def stop(self, order: StopOrder) -> None:
        with self._state:
            run = self._runs.get((order.job, order.run))
            if run is None or run.over:
                return
            wanted = run.replicas if order.replicas is None else run.replicas.intersection(order.replicas)
            if wanted:
                orders.give(run, orders.stop(wanted, order.grace_ms), self.make_room)

    def restart(self, order: RestartOrder) -> None:
        with self._state:
            run = self._runs.get((order.job, order.run))
            if run is not None and not run.over:
                orders.give(run, orders.restart(order.key), self.make_room)

    def recall(self, orders: Sequence[StartOrder]) -> None:
        """What runs is read from journals that only this account may write."""

    def observe(self) -> Observed:
        with self._state:
            for run in self._runs.values():
                self._teller.collect(run.read_on())
            seen = Observed(
                tuple(
                    Running(*run.key, tuple(sorted(run.replicas)))
                    for run in self._runs.values()
                    if run.replicas
                ),
                tuple(run.exited for run in self._runs.values() if run.exited is not None),
            )
        self._teller.tell()
        return seen

    def forget(self, job: JobId, run: int) -> None:
        with self._state:
            known = self._runs.get((job, run))
            if known is not None and known.replicas:
                return
            path = self._directory.run(job, run)
            if os.path.exists(path.spec):
                os.close(os.open(path.forgotten, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600))
            if known is not None:
                known.forgotten = True
                self._drop_if_forgotten(known)

    def device_uses(self) -> list[DeviceUse]:
        """What the GPUs of this machine do now, by NVML; nothing where they are virtual. May be slow with a driver in trouble."""
        return [] if self._health is None else self._health.uses()

    def largest_job(self) -> str:
        """Which job's directories take the most room on the disk, in words; "" if there is none."""
        found = disk_use.largest(self._directory)
        return "" if found is None else found.text

    def endpoint(self, job: JobId, run: int) -> Endpoint | None:
        with self._state:
            known = self._runs.get((job, run))
            return None if known is None else known.endpoint

    def log(self, job: JobId, run: int, replica: int, offset: int, limit: int) -> LogPiece | None:
        path = self._directory.run(job, run)
        with self._state:
            known = self._runs.get((job, run))
            closed = replica not in known.replicas if known is not None else os.path.exists(path.forgotten)
        return read_log(Path(path.replica_logs(replica)), offset, limit, closed=closed)

    def close(self) -> None:
        self._rounds.stop()
        with self._state:
            watch, self._watch = self._watch, None
            self._teller.end()
        if watch is not None:
            watch.close()
        self._nursery.close()

    # -- orders ------------------------------------------------------------------------------------------------------

    def _begin(self, order: StartOrder) -> None:
        """Carry out the first order of a run: make its directory, write down what to run, and start its supervisor."""
        path = self._directory.run(order.job, order.run)
        user = self._premises.user(order.workspace)
        if not os.path.isdir(self._directory.jobs):
            self._premises.prepare()  # the directory was removed
        birth.make_directories(self._directory.job(order.job), path, user)
        lock = birth.take_lock(path)
        if lock is None:
            raise EngineUnavailable(f"run {order.run} of {order.job} is supervised, and not known yet")
        premises = self._premises
        spec = orders.specification(
            premises.engine_id, order, user, limits=self._limits, apart=premises.apart
        )
        run = KnownRun(order.job, order.run, order.module, path, home=spec.get("home"))
        first = orders.start(order.replicas)
        try:
            program = parse(order.program, order.module, len(order.replicas))
            birth.write_spec(path, {**spec, "program": program.public()}, [first])
        except BadProgram as error:  # it was valid when it was submitted: a directory has gone since
            birth.write_spec(path, spec, [first])
            end = {"is": "exited", "outcome": "failed", "detail": str(error)}
            journal.append(path.journal, end, durable=True)
            self._teller.collect(run.read_on())
            os.close(lock)
        except OSError:
            os.close(lock)
            raise
        else:
            pid = birth.spawn_supervisor(self._nursery, path, lock, program.secrets or {})
            run.replicas.update(one.replica for one in order.replicas)
            self._watch_over(run, pid)
        self._runs[run.key] = run

    def _watch_over(self, run: KnownRun, pid: int | None) -> None:
        """Watch for the end of a supervisor. If it is gone already, or its pid is not known, the sweep will notice."""
        if self._watch is not None and pid is not None:
            with contextlib.suppress(OSError):
                self._watch.supervise(os.pidfd_open(pid), run.key)

    def _kept(self, key: Key) -> KnownRun | None:
        """A run that is not known in memory, as its files tell it; None if there is none, or it never began.

        Forgotten runs are returned, so that they are not begun again. A run whose start failed half-way may have a
        supervisor, and is taken over.
        """
        path = self._directory.run(*key)
        run = read_run(path) if os.path.exists(path.journal) else None
        if run is not None:
            run.forgotten = os.path.exists(path.forgotten)
            if not run.over and not run.forgotten:
                self._take_over(run)
                return self._runs.get(key)
        return run

    # -- what supervisors tell -------------------------------------------------------------------------------------------

    def _woken(self, keys: set[Key]) -> None:
        self._read_journals(keys)
        self._teller.tell()

    def _loaded(self, key: Key, in_flight_milli: int, span_ms: int) -> None:
        with self._state:
            run = self._runs.get(key)
            if run is not None:
                run.see_load(in_flight_milli, span_ms)

    def _sweep(self) -> None:
        """Find news and dead supervisors that no wake-up told of."""
        with self._state:
            keys = set(self._runs)
        self._read_journals(keys)
        self._teller.tell()
        with self._state:
            gone = [
                run.key
                for run in self._runs.values()
                if not run.over and not self._clearer.is_at(run.key) and not birth.is_held(run.directory)
            ]
        for key in gone:
            self._ended(key)

    def _ended(self, key: Key) -> None:
        """Deal with the end of a supervisor. Unless its journal has a final line, the run is cleared away, and then lost."""
        self._read_journals({key})
        with self._state:
            run = self._runs.get(key)
            if run is not None and not run.over:
                self._clearer.begin(self._premises.engine_id, run, just_now=True)
        self._teller.tell()

    def _read_journals(self, keys: set[Key]) -> None:
        """Collect the news of these runs, without reporting them yet."""
        with self._state:
            for key in keys:
                run = self._runs.get(key)
                if run is not None:
                    self._teller.collect(run.read_on())
                    orders.wake_if_unheard(run)
                    self._drop_if_forgotten(run)

    def _drop_if_forgotten(self, run: KnownRun) -> None:
        """Drop a forgotten run once it is over; until then its supervisor is watched."""
        if run.over and run.forgotten:
            self._runs.pop(run.key, None)

    def _take_over(self, run: KnownRun) -> None:
        """Go on with a run of an earlier server: watch its supervisor, or clear away what a killed one left."""
        self._runs[run.key] = run
        if run.over or self._watch is None:
            return
        pidfd = run.supervisor.pidfd() if run.supervisor is not None else None
        if pidfd is not None:
            self._watch.supervise(pidfd, run.key)
        elif not birth.is_held(run.directory):
            if run.supervisor is None:
                del self._runs[run.key]  # never begun: if still wanted, it is ordered again
            else:
                self._clearer.begin(self._premises.engine_id, run, just_now=False)

    def _directory_is_gone(self, run: KnownRun) -> None:
        """Take a run for lost whose directory was removed: what its supervisor wrote in the end cannot be read any more."""
        with self._state:
            self._teller.collect(run.hear({"is": "lost", "detail": "its directory was removed"}))

    # -- what is looked at every so often ------------------------------------------------------------------------------

    def _begin_rounds(self) -> None:
        every, most_mib, health = self._rounds.every, self._job_mib, self._health
        every(
            KEEP_HOUSE_SECONDS,
            lambda: keep.throw_away(self._directory),
            name="local-engine-keep",
            trouble="old runs could not be thrown away",
        )
        if most_mib is not None:
            every(
                DISK_SECONDS,
                lambda: self.end_large_jobs(most_mib),
                name="local-engine-disk",
                trouble="the directories of jobs could not be measured",
            )
        if health is not None:
            every(
                HEALTH_SECONDS,
                lambda: self._look_at_gpus(health),
                name="local-gpus",
                trouble="the GPUs could not be looked at",
                at_once=True,
            )

    def end_large_jobs(self, most_mib: int) -> None:
        """Have runs end as failed whose job holds more on the disk than it may, its home among it; it is said once to each."""
        with self._state:
            running = [run for run in self._runs.values() if run.replicas and not run.too_large]
        held = functools.cache(lambda path: disk_use.held(path, 2 * most_mib * 2**20))
        for run in running:
            try:
                own = self._with_removed(run, held(self._directory.job(run.job).path))
                home = disk_use.Held(0) if run.home is None else held(run.home)
            except OSError as problem:
                log.warning(
                    "local engine: what %s holds on the disk cannot be measured: %s", run.job, problem
                )
                continue
            detail = disk_use.why_too_large(own, home, most_mib)
            if detail:
                with self._state:
                    run.too_large = True
                    orders.give(run, orders.fail(detail), self.make_room)

    def _with_removed(self, run: KnownRun, found: disk_use.Held) -> disk_use.Held:
        """What a job holds, with the files that it has removed and keeps open, where its workspace has a user of its own."""
        if run.home is None or run.supervisor is None:
            return found
        removed_bytes = removed_files.held_bytes(run.supervisor.pid, self._directory.job(run.job).work)
        return found._replace(used_bytes=found.used_bytes + removed_bytes)

    def _look_at_gpus(self, health: HealthWatch) -> None:
        """Report on the health of the GPUs, as far as it has changed."""
        self._teller.collect(health.look())
        self._teller.tell()
