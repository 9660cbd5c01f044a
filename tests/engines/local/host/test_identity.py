"""A pid is used again: nobody else's process is ever taken for ours, or signalled."""

import os
import signal
import subprocess

from quotatree.engines.local.host.identity import Identity
from tests.engines.local.supervised import wait_for


def test_it_is_the_same_process_only_with_start_time_and_boot(other: subprocess.Popen[bytes]):
    found = Identity.of(other.pid)
    assert found is not None
    assert found.alive()
    assert Identity.read(found.fields()).alive()
    assert not Identity(other.pid, found.started + 1, found.boot).alive()
    assert not Identity(other.pid, found.started, "another boot").alive()


def test_a_number_that_changed_hands_is_not_signalled(other: subprocess.Popen[bytes]):
    found = Identity.of(other.pid)
    assert found is not None
    assert not Identity(other.pid, found.started - 1, found.boot).send(signal.SIGKILL)
    assert not Identity(other.pid, found.started, "another boot").send(signal.SIGKILL)
    assert found.alive()
    assert found.send(signal.SIGKILL)
    assert other.wait(10) == -signal.SIGKILL
    assert not found.send(signal.SIGKILL)


def test_a_zombie_is_gone(other: subprocess.Popen[bytes]):
    found = Identity.of(other.pid)
    assert found is not None
    other.send_signal(signal.SIGKILL)
    wait_for(lambda: not found.alive(), "its death, though nobody waited for it")
    assert found.pidfd() is None


def test_a_handle_becomes_readable_with_the_end(other: subprocess.Popen[bytes]):
    found = Identity.of(other.pid)
    assert found is not None
    fd = found.pidfd()
    assert fd is not None
    other.kill()
    assert os.waitid(os.P_PIDFD, fd, os.WEXITED) is not None
    os.close(fd)


def test_a_name_with_spaces_and_parentheses_does_not_confuse(tmp_path):
    odd = tmp_path / "a) R 1 (b"
    odd.symlink_to("/bin/sleep")
    with subprocess.Popen([str(odd), "1000"]) as process:
        found = Identity.of(process.pid)
        assert found is not None
        assert found.alive()
        process.kill()
