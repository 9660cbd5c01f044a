"""What can the server do at the moment, and how is its loop tuned?"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from quotatree.core import Settings


@dataclass(frozen=True, slots=True)
class LoopSettings:
    """How the loop is tuned; `core` holds the settings of the rules.

    `abandon_runs`: the operator says that runs under another engine are gone for good, so they may be started again.
    """

    core: Settings = Settings(longest_grace_ms=3_600_000)
    lease_ms: int = 15_000
    first_retry_ms: int = 100
    longest_retry_ms: int = 10_000
    most_in_batch: int = 250
    most_waiting: int = 20_000
    abandon_runs: bool = False


class Mode(Enum):
    """What the server can do at the moment; the value is shown to users."""

    STARTING = "starting"
    LEADING = "ready"
    STORE_AWAY = "read only: the store is unavailable"
    DISK_FULL = "read only: the disk is full; jobs can be cancelled and stopped"
    MIGRATING = "starting: the tables of an older version are brought up to date"
    WAITS_FOR_OLDER = (
        "standing by: an older version leads; when it stops, this one brings the tables up to date and leads"
    )
    STANDBY = "standing by: another server has the lease"
    ELSEWHERE = "standing by: what runs is in the hands of another server's engine; serve there, or here with --abandon-runs"
    STOPPED = "stopped"


@dataclass(frozen=True, slots=True)
class Health:
    mode: Mode
    since_ms: int
    detail: str
    waiting: int

    @property
    def writable(self) -> bool:
        return self.mode is Mode.LEADING
