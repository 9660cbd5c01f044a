"""Links to jobs may have a host name that is not the console's."""

from __future__ import annotations

import pytest

from quotatree.api.job_host import as_job_host, shown_at
from quotatree.scenario.amounts import Unreadable

HERE = "http://127.0.0.1:4711/lab?x=1"


@pytest.mark.parametrize(
    ("address", "host", "shown"),
    [
        (HERE, None, HERE),
        (HERE, "jobs.example.org", "http://jobs.example.org:4711/lab?x=1"),
        (HERE, "{job}.jobs.example.org", "http://dsw-8k2m0qz4xa.jobs.example.org:4711/lab?x=1"),
        ("http://localhost/", "jobs.example.org", "http://jobs.example.org/"),
        ("http://[::1]:80/", "jobs.example.org", "http://jobs.example.org:80/"),
        ("http://lab.vision.svc:8888/", "jobs.example.org", "http://lab.vision.svc:8888/"),
    ],
)
def test_an_address_on_this_machine_is_shown_under_the_host_of_jobs(
    address: str, host: str | None, shown: str
):
    assert shown_at(address, host, "dsw-8k2m0qz4xa") == shown


@pytest.mark.parametrize("host", ["jobs.localhost", "{job}.jobs.example.org", "gpu-1"])
def test_a_host_of_jobs_is_read(host: str):
    assert as_job_host(host) == host


@pytest.mark.parametrize(
    "host",
    ["", 5, "http://x", "a b", "x:80", "x/", "{job}", "x.{job}.y", "{other}.x", "a..b", "-a", "a@b", "A.b"],
)
def test_what_is_no_host_is_refused(host: object):
    with pytest.raises(Unreadable):
        as_job_host(host)
