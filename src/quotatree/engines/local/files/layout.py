"""Where does everything of the local engine lie? Paths only; nothing here reads or writes.

Strings and not `Path`: supervisors import this, and what they do not import costs no start and no memory.
"""

from __future__ import annotations

import os

ENGINE_FILE = "engine.json"
WAKE_FIFO = "wake"
JOBS = "jobs"
SEGMENT_SUFFIX = ".log"
LOAD = "load"
"""First word of a line in the wake fifo that tells a load; a line without it names a run that has news."""

PLAIN = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-")


def folder_name(job: str) -> str:
    """The job's name as a directory name: bytes that could mean something to the file system become %XX."""
    quoted = "".join(
        chr(byte) if chr(byte) in PLAIN else f"%{byte:02X}" for byte in job.encode("utf-8", "surrogateescape")
    )
    return f"%2E{quoted[1:]}" if quoted.startswith(".") else quoted


def job_name(folder: str) -> str:
    """The job's name for a directory name: the inverse of `folder_name`."""
    head, *rest = folder.encode("ascii").split(b"%")
    raw = head + b"".join(bytes([int(part[:2], 16)]) + part[2:] for part in rest)
    return raw.decode("utf-8", "surrogateescape")


def segment_name(start: int) -> str:
    """File name of the log segment whose first byte is number `start` of all that was ever printed."""
    return f"{start:020d}{SEGMENT_SUFFIX}"


class EngineDir:
    """The directory of one engine."""

    __slots__ = ("path",)

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = os.path.abspath(os.fspath(path))

    @property
    def engine_file(self) -> str:
        return os.path.join(self.path, ENGINE_FILE)

    @property
    def wake(self) -> str:
        return os.path.join(self.path, WAKE_FIFO)

    @property
    def jobs(self) -> str:
        return os.path.join(self.path, JOBS)

    @property
    def users_file(self) -> str:
        """File that keeps which workspace has which unix user."""
        return os.path.join(self.path, "users.json")

    @property
    def ports(self) -> str:
        """Directory with an empty file for each port that was ever chosen; the locks of supervisors hold them."""
        return os.path.join(self.path, "ports")

    def home(self, uid: int) -> str:
        """The home of a unix user that the machine does not know by name."""
        return os.path.join(self.path, "homes", str(uid))

    def job(self, job: str) -> JobDir:
        return JobDir(os.path.join(self.jobs, folder_name(job)))

    def run(self, job: str, run: int) -> RunDir:
        return self.job(job).run(run)


class JobDir:
    """The directory of one job: what it keeps from run to run, and its runs."""

    __slots__ = ("path",)

    def __init__(self, path: str) -> None:
        self.path = path

    @property
    def work(self) -> str:
        return os.path.join(self.path, "work")

    @property
    def checkpoints(self) -> str:
        return os.path.join(self.path, "checkpoints")

    @property
    def scratch(self) -> str:
        """What is /tmp for a job that is kept apart."""
        return os.path.join(self.path, "tmp")

    @property
    def checkpoint_file(self) -> str:
        """File that a job touches to report a checkpoint; it lies where the user of the run may write."""
        return os.path.join(self.checkpoints, ".checkpointed")

    @property
    def service_file(self) -> str:
        return os.path.join(self.path, "service.json")

    @property
    def runs(self) -> str:
        return os.path.join(self.path, "runs")

    def run(self, run: int) -> RunDir:
        return RunDir(os.path.join(self.runs, str(run)))


class RunDir:
    """One run: what was ordered, what happened, what was printed."""

    __slots__ = ("path",)

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = os.path.abspath(os.fspath(path))

    @property
    def job(self) -> JobDir:
        return JobDir(os.path.dirname(os.path.dirname(self.path)))

    @property
    def engine(self) -> EngineDir:
        return EngineDir(os.path.dirname(os.path.dirname(self.job.path)))

    @property
    def spec(self) -> str:
        return os.path.join(self.path, "spec.json")

    @property
    def orders(self) -> str:
        return os.path.join(self.path, "orders")

    @property
    def journal(self) -> str:
        return os.path.join(self.path, "journal")

    @property
    def lock(self) -> str:
        return os.path.join(self.path, "lock")

    @property
    def crash(self) -> str:
        """Traceback of a supervisor that died of an error of its own."""
        return os.path.join(self.path, "crash")

    @property
    def forgotten(self) -> str:
        return os.path.join(self.path, "forgotten")

    @property
    def logs(self) -> str:
        return os.path.join(self.path, "logs")

    def replica_logs(self, replica: int) -> str:
        return os.path.join(self.logs, str(replica))
