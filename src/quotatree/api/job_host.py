"""Under which host name do links lead to a job? Another one than the console's keeps their cookies apart.

Browsers share cookies across the ports of a host. With a name for each job, also the cookies of a notebook
reach no other job.
"""

from __future__ import annotations

import re
from ipaddress import ip_address
from typing import Final
from urllib.parse import urlsplit, urlunsplit

from quotatree.scenario.amounts import Unreadable, as_text

JOB: Final = "{job}"
_NAME: Final = re.compile(r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?(\.[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)*")


def as_job_host(value: object) -> str:
    """The setting as it is read: a host name, in which the job's id may be a whole label."""
    host = as_text(value)
    if len(host) > 200 or _NAME.fullmatch(re.sub(r"^\{job\}(?=\.)", "job", host)) is None:
        raise Unreadable(
            'must be a host name in lower case, such as "jobs.example.org" or "{job}.jobs.example.org"'
        )
    return host


def shown_at(address: str, host: str | None, job: str) -> str:
    """The address of a job under `host`. None, or an address beyond this machine's loopback: as it is."""
    parts = urlsplit(address)
    if host is None or not _is_loopback(parts.hostname or ""):
        return address
    name = host.replace(JOB, job)
    return urlunsplit(parts._replace(netloc=name if parts.port is None else f"{name}:{parts.port}"))


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
