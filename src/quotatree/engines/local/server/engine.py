"""Who runs jobs as real processes on this machine? The server's side: it writes orders, and reads what supervisors tell.

Nothing that matters is only in memory here. Each run has a directory with its orders and its journal, and a supervisor of
its own that lives on when the server dies; whoever opens the directory again finds what runs and what has ended since.
A run whose supervisor was killed is cleared away and then reported lost; until then its devices are taken.
"""

from __future__ import annotations

import contextlib
import errno
import logging
import os
import secrets
import signal
import socket
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

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
from quotatree.engines.local.host.users import User
from quotatree.engines.local.server import birth, disk_use, keep, remains
from quotatree.engines.local.server.disk_use import DiskSettings
from quotatree.engines.local.server.known import Key, KnownRun, read_run, runs_on_disk
from quotatree.engines.local.server.log_reader import read_log
from quotatree.engines.local.server.premises import Premises
from quotatree.engines.local.server.program import BadProgram, parse
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
        self._unheard: set[Key] = set()  # runs with orders that the supervisor was not woken for
        self._clearing: set[Key] = set()
        self._too_large: set[Key] = set()  # runs that were told to end for what their job holds on the disk
        self._told: list[Report] = []
        self._report: Callable[[Report], None] | None = None
        self._watch: Watch | None = None
        self._closing = threading.Event()
        self._state = threading.RLock()
        self._telling = False
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
            self._told.clear()
            self._report = report
        watch.start()
        threading.Thread(target=self._keep_house, name="local-engine-keep", daemon=True).start()
        if self._job_mib is not None:
            threading.Thread(
                target=self._watch_disk, args=(self._job_mib,), name="local-engine-disk", daemon=True
            ).start()
        if self._health is not None:
            threading.Thread(
                target=self._watch_gpus, args=(self._health,), name="local-gpus", daemon=True
            ).start()

    def start(self, order: StartOrder) -> None:
        key = (order.job, order.run)
        with self._state:
            run = self._runs.get(key) or self._kept(key)
            replicas = tuple(one.replica for one in order.replicas)
            if run is None:
                self._begin(order)
            elif run.over or run.forgotten:
                self._told.append(run.conclusion(replicas))
            else:
                new = [one for one in order.replicas if one.replica not in run.replicas]
                if new:
                    self._order(run, {"do": "start", "replicas": [_replica(one) for one in new]})
                    run.replicas.update(one.replica for one in new)
                again = tuple(replica for replica in replicas if replica in run.confirmed)
                if again:
                    self._told.append(Confirmed(*key, again))
        self._tell()

    def stop(self, order: StopOrder) -> None:
        with self._state:
            run = self._runs.get((order.job, order.run))
            if run is None or run.over:
                return
            wanted = run.replicas if order.replicas is None else run.replicas.intersection(order.replicas)
            if wanted:
                self._order(run, {"do": "stop", "replicas": sorted(wanted), "grace_ms": order.grace_ms})

    def restart(self, order: RestartOrder) -> None:
        with self._state:
            run = self._runs.get((order.job, order.run))
            if run is not None and not run.over:
                self._order(run, {"do": "restart", "key": order.key})

    def observe(self) -> Observed:
        with self._state:
            for run in self._runs.values():
                self._told += run.read_on()
            seen = Observed(
                tuple(
                    Running(*run.key, tuple(sorted(run.replicas)))
                    for run in self._runs.values()
                    if run.replicas
                ),
                tuple(run.exited for run in self._runs.values() if run.exited is not None),
            )
        self._tell()
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
        self._closing.set()
        with self._state:
            watch, self._watch, self._report = self._watch, None, None
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
        run = KnownRun(order.job, order.run, order.module, path)
        spec = self._spec(order, user)
        first = {"do": "start", "replicas": [_replica(one) for one in order.replicas]}
        try:
            program = parse(order.program, order.module, len(order.replicas))
            birth.write_spec(path, {**spec, "program": program.public()}, [first])
        except BadProgram as error:  # it was valid when it was submitted: a directory has gone since
            birth.write_spec(path, spec, [first])
            end = {"is": "exited", "outcome": "failed", "detail": str(error)}
            journal.append(path.journal, end, durable=True)
            self._told += run.read_on()
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

    def _spec(self, order: StartOrder, user: User) -> dict[str, Any]:
        spec: dict[str, Any] = {
            "engine": self._premises.engine_id, "job": order.job, "run": order.run, "module": order.module.value,
            "world_size": len(order.replicas), "grace_ms": order.grace_ms, "user": user.name,
            "source": birth.SOURCE, "limits": self._limits,
        }  # fmt: skip
        if self._premises.apart:
            spec["apart"] = True
        if not user.listed and not user.is_us:
            spec |= {"uid": user.uid, "home": user.home}
        return {**spec, "token": secrets.token_urlsafe(24)} if order.module is Module.DSW else spec

    def _order(self, run: KnownRun, line: dict[str, Any]) -> None:
        """Write an order down and wake the supervisor, which finds it by itself should it miss the signal."""
        said = {"at_ms": time.time_ns() // 1_000_000, **line}
        try:
            journal.append(run.directory.orders, said)
        except OSError as error:
            if error.errno != errno.ENOSPC or not self.make_room():
                raise
            journal.append(run.directory.orders, said)
        if run.supervisor is None:
            self._unheard.add(run.key)
        else:
            run.supervisor.send(signal.SIGUSR1)
            run.supervisor.send(signal.SIGCONT)  # in case it was stopped: an order is to be obeyed

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
        self._tell()

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
        self._tell()
        with self._state:
            gone = [
                run.key
                for run in self._runs.values()
                if not run.over and run.key not in self._clearing and not birth.is_held(run.directory)
            ]
        for key in gone:
            self._ended(key)

    def _ended(self, key: Key) -> None:
        """Deal with the end of a supervisor. Unless its journal has a final line, the run is cleared away, and then lost."""
        self._read_journals({key})
        with self._state:
            run = self._runs.get(key)
            if run is not None and not run.over:
                self._clear_away(run, just_now=True)
        self._tell()

    def _read_journals(self, keys: set[Key]) -> None:
        """Collect the news of these runs in `_told`, without reporting them yet."""
        with self._state:
            for key in keys:
                run = self._runs.get(key)
                if run is not None:
                    self._told += run.read_on()
                    self._wake_if_unheard(run)
                    self._drop_if_forgotten(run)

    def _drop_if_forgotten(self, run: KnownRun) -> None:
        """Drop a forgotten run once it is over; until then its supervisor is watched."""
        if run.over and run.forgotten:
            self._runs.pop(run.key, None)
            self._unheard.discard(run.key)
            self._too_large.discard(run.key)

    def _wake_if_unheard(self, run: KnownRun) -> None:
        if run.key in self._unheard and run.supervisor is not None:
            self._unheard.discard(run.key)
            run.supervisor.send(signal.SIGUSR1)

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
                self._clear_away(run, just_now=False)

    # -- what a killed supervisor leaves -----------------------------------------------------------------------------

    def _clear_away(self, run: KnownRun, *, just_now: bool) -> None:
        """Clear a run in a thread of its own: a process that the kernel does not let go of must not hold up other runs."""
        if run.key not in self._clearing:
            self._clearing.add(run.key)
            threading.Thread(
                target=self._clear,
                args=(run, just_now),
                name=f"local-engine-{run.job}-{run.run}",
                daemon=True,
            ).start()

    def _clear(self, run: KnownRun, just_now: bool) -> None:
        try:
            lock = birth.take_lock(run.directory)
            if lock is not None:
                try:
                    remains.clear(self._premises.engine_id, run, just_now=just_now)
                    journal.append(run.directory.journal, birth.end_of(run.directory), durable=True)
                finally:
                    os.close(lock)
            elif not os.path.exists(run.directory.path):
                self._clear_without_directory(run, just_now)
        except Exception:
            log.exception("local engine: %s run %s could not be cleared; tried again", run.job, run.run)
        finally:
            with self._state:
                self._clearing.discard(run.key)
        self._woken({run.key})

    def _clear_without_directory(self, run: KnownRun, just_now: bool) -> None:
        """Clear a run whose directory was removed, once its supervisor has noticed that and ended.

        What the supervisor writes in the end cannot be read any more, so the run is lost.
        """
        if run.supervisor is None or not run.supervisor.alive():
            remains.clear(self._premises.engine_id, run, just_now=just_now)
            with self._state:
                self._told += run.hear({"is": "lost", "detail": "its directory was removed"})

    # -- telling -------------------------------------------------------------------------------------------------------

    def _keep_house(self) -> None:
        while not self._closing.wait(KEEP_HOUSE_SECONDS):
            try:
                keep.throw_away(self._directory)
            except Exception:
                log.exception("local engine: old runs could not be thrown away")

    def _watch_disk(self, most_mib: int) -> None:
        """Look every DISK_SECONDS at what running jobs hold on the disk."""
        while not self._closing.wait(DISK_SECONDS):
            try:
                self.end_large_jobs(most_mib)
            except Exception:
                log.exception("local engine: the directories of jobs could not be measured")

    def end_large_jobs(self, most_mib: int) -> None:
        """Have runs end as failed whose job holds more on the disk than it may; it is said once to each."""
        with self._state:
            running = [run for run in self._runs.values() if run.replicas and run.key not in self._too_large]
        for run in running:
            used = disk_use.used_bytes(self._directory.job(run.job))
            if used <= most_mib * 2**20:
                continue
            detail = f"its directories hold {used / 2**20:,.0f} MiB, more than the {most_mib:,} MiB that a job may have"
            with self._state:
                self._too_large.add(run.key)
                self._order(run, {"do": "fail", "detail": detail})

    def _watch_gpus(self, health: HealthWatch) -> None:
        """Report on the GPUs every HEALTH_SECONDS, in a thread of its own: a driver in trouble may be slow to answer."""
        while not self._closing.is_set():
            try:
                reports = health.look()
            except Exception:
                log.exception("local engine: the GPUs could not be looked at")
                reports = []
            with self._state:
                self._told += reports
            self._tell()
            self._closing.wait(HEALTH_SECONDS)

    def _tell(self) -> None:
        """Report what was collected, in order, and never while holding the state: the listener may call back.

        One thread reports at a time; another one that comes meanwhile leaves its reports to it.
        """
        with self._state:
            if self._telling:
                return
            self._telling = True
        while True:
            with self._state:
                told, self._told, report = self._told, [], self._report
                if not told or report is None:
                    self._telling = False
                    return
            for one in told:
                try:
                    report(one)
                except Exception:
                    log.exception("local engine: nobody could be told of %s", one)


def _replica(order: Any) -> dict[str, Any]:
    shape = order.shape
    return {
        "replica": order.replica, "node": order.node, "devices": list(order.devices),
        "gpu_milli": shape.gpu_milli, "cpu_milli": shape.cpu_milli, "memory_mib": shape.memory_mib,
    }  # fmt: skip
