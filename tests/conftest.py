"""What holds for every test: it can be interrupted, processes find compiled modules, hypothesis looks as long as told."""

from __future__ import annotations

import gc
import os
import signal
import sys
from collections.abc import Generator, Iterator

import pytest
from hypothesis import HealthCheck, Phase, settings

from tests.profiles import PROFILE, by_profile

# A test run that was started in the background ignores Ctrl-C, and so would every command it starts to be interrupted.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# Images set this to stay small. Here hundreds of processes are started, and each would compile the package anew.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

SLOW_IS_FINE = (HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much)

settings.register_profile(
    "same every time",
    max_examples=by_profile(quick=10, deep=30),
    stateful_step_count=14,
    deadline=None,
    derandomize=True,
    database=None,
    print_blob=True,
    phases=(Phase.explicit, Phase.generate),  # shrinking may take minutes: that is what `long` is for
    suppress_health_check=SLOW_IS_FINE,
)
settings.register_profile(
    "long", max_examples=3000, stateful_step_count=40, deadline=None, suppress_health_check=SLOW_IS_FINE
)
settings.load_profile("long" if PROFILE == "long" else "same every time")


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Collects tests without the garbage collector, which is then told that all of it stays.

    Thousands of tests and hundreds of modules are no garbage, and it would walk over them again and again, in every test too.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


@pytest.fixture(scope="session")
def postgres_home() -> Iterator[str]:
    """Where the socket of a real PostgreSQL is, with a database of empty tables to copy. One for all tests of a process."""
    from quotatree.store import Store  # most runs of a few tests need neither
    from tests.store import postgres

    where = postgres.binaries()
    if where is None:
        pytest.skip("no PostgreSQL: neither initdb on PATH, nor Debian's packages, nor the package pgserver")
    with postgres.server(where) as home:
        store = Store.open(postgres.create(home, postgres.TEMPLATE))
        store.migrate()
        store.close()
        yield home
