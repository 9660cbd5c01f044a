"""The processes of a run are found by their mark and by parenthood."""

import os
import subprocess

from quotatree.engines.local.host import process_tree
from tests.engines.local.supervised import wait_for


def test_processes_are_found_by_their_mark(other: subprocess.Popen[bytes]):
    engine = f"e{os.getpid()}"
    wait_for(lambda: process_tree.mark_of(other.pid), "exec")
    assert [process.pid for process in process_tree.marked(f"{engine}:a:1:")] == [other.pid]
    assert process_tree.marked(f"{engine}:a:2:") == []


def test_a_tree_is_found_by_parenthood():
    with subprocess.Popen(["sh", "-c", "sh -c 'sleep 1000; true' & wait"], start_new_session=True) as process:
        wait_for(lambda: len(process_tree.below([process.pid])) == 3, "three generations")
        assert process_tree.kill([process.pid]) == 3
        process.wait(10)
