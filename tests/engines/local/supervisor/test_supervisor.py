"""A run under its supervisor: it starts, is told to stop, ends, fails, is tried again. Issue 5, parts 1 to 3."""

import json
import os
import signal
from pathlib import Path

import pytest

from quotatree.engines.local.files import journal
from quotatree.engines.local.files.layout import RunDir
from tests.engines.local.supervised import Runs

FOREVER = ["sleep", "1000"]


def succeeded() -> dict[str, str]:
    return {"is": "exited", "outcome": "succeeded", "detail": ""}


def failed(detail: str) -> dict[str, str]:
    return {"is": "exited", "outcome": "failed", "detail": detail}


def test_a_run_is_confirmed_prints_and_ends_well(runs: Runs):
    run = runs.start("echo rank $RANK of $WORLD_SIZE on $CUDA_VISIBLE_DEVICES; echo again >&2", replicas=2)
    assert run.end() == succeeded()
    assert run.log(0) == b"rank 0 of 2 on 0\nagain\n"
    assert run.log(1) == b"rank 1 of 2 on 1\nagain\n"
    kinds = [entry["is"] for entry in run.journal]
    assert kinds[0] == "supervising"
    assert kinds.count("started") == 2
    assert sorted(n for line in run.lines("confirmed") for n in line["replicas"]) == [0, 1]


def test_it_runs_in_its_own_session_as_the_journal_says(runs: Runs):
    run = runs.start(FOREVER)
    run.wait("confirmed")
    main = run.main()
    assert os.getsid(main.pid) == main.pid
    assert os.getpgid(main.pid) == main.pid
    assert main.alive()


def test_told_to_stop_it_gets_its_notice_and_leaves(both_ways: Runs):
    run = both_ways.start(
        "trap 'echo noticed; exit 0' TERM; echo up; while :; do sleep 0.01; done", replicas=2
    )
    run.wait_for_output(b"up", 0)
    run.wait_for_output(b"up", 1)
    run.stop()
    assert run.end() == {"is": "over"}, "an exit with 0 after the notice is no good end of the run"
    assert sorted(n for line in run.lines("left") for n in line["replicas"]) == [0, 1]
    assert run.log(0).endswith(b"noticed\n")
    assert run.log(1).endswith(b"noticed\n")


def test_who_is_deaf_is_killed_with_all_its_children_when_the_grace_is_over(both_ways: Runs):
    run = both_ways.start("trap '' TERM; sleep 1000 & sleep 1000 & echo up; sleep 1000")
    run.wait_for_output(b"up")
    run.stop(grace_ms=300)
    began = run.lines("confirmed")[0]["at_ms"]
    assert run.end() == {"is": "over"}
    assert run.journal[-1]["at_ms"] - began >= 300


def test_a_second_stop_shortens_the_grace_and_never_lengthens_it(runs: Runs):
    run = runs.start("trap '' TERM; echo up; while :; do sleep 0.01; done")
    run.wait_for_output(b"up")
    run.stop(grace_ms=600_000)
    run.stop(grace_ms=100)
    run.stop(grace_ms=600_000)
    assert run.end() == {"is": "over"}


def test_the_grace_is_for_all_of_the_tree_also_when_the_shell_around_it_died_first(both_ways: Runs):
    """A shell has no handler and dies of the notice at once; the program it runs is just writing its checkpoint."""
    child = (
        "import os, signal, sys, time\n"
        "def notice(*_):\n"
        "    while os.getppid() == parent: time.sleep(0.001)\n"
        "    time.sleep(0.2); open('saved', 'w').write('all of it'); sys.exit(0)\n"
        "parent = os.getppid(); signal.signal(signal.SIGTERM, notice); print('up', flush=True); signal.pause()\n"
    )
    run = both_ways.start(f'python3 -c "{child}"; echo not reached')
    run.wait_for_output(b"up")
    run.stop()
    assert run.end() == {"is": "over"}
    assert run.work("saved").read_text() == "all of it"
    assert b"not reached" not in run.log()


def test_some_replicas_can_be_told_to_leave_and_the_others_go_on(runs: Runs):
    run = runs.start("while [ ! -e finish ]; do sleep 0.01; done", replicas=3)
    run.wait_until(lambda: sum(len(line["replicas"]) for line in run.lines("confirmed")) == 3, "all three")
    run.stop([2])
    assert run.wait("left")["replicas"] == [2]
    assert run.main(0).alive()
    assert run.main(1).alive()
    run.work("finish").touch()
    assert run.end() == succeeded()


def test_surplus_replicas_come_later_and_an_order_sent_twice_happens_once(runs: Runs):
    run = runs.start("while [ ! -e finish ]; do sleep 0.01; done", replicas=1)
    run.wait("confirmed")
    run.order_start([0, 1])
    run.order_start([1])
    run.wait("confirmed", 2)
    assert [entry["replica"] for entry in run.lines("started")] == [0, 1]
    run.work("finish").touch()
    assert run.end() == succeeded()


def test_one_that_fails_takes_the_gang_with_it_after_a_notice(runs: Runs):
    run = runs.start(
        "if [ $RANK = 1 ]; then while [ ! -e up ]; do sleep 0.01; done; exit 7; fi;"
        "trap 'echo noticed; exit 0' TERM; touch up; while :; do sleep 0.01; done",
        replicas=2,
    )
    assert run.end() == failed("replica 1 exited with code 7")
    assert run.log(0).endswith(b"noticed\n")


def test_a_signal_is_named(runs: Runs):
    assert runs.start("kill -SEGV $$").end() == failed("replica 0 was killed by signal SEGV")


def test_a_failure_is_tried_again_with_new_processes_and_the_same_log(runs: Runs):
    run = runs.start(
        "echo try >> tries; cat tries; [ $(wc -l < tries) = 3 ]", retries=2, backoff_seconds=0.01
    )
    assert run.end() == succeeded()
    assert run.log() == b"try\n" + b"try\n" * 2 + b"try\n" * 3
    assert [line["in_seconds"] for line in run.lines("restarting")] == [0.01, 0.02]
    assert run.lines("restarting")[0]["detail"] == "replica 0 exited with code 1 (attempt 1 of 3)"


def test_when_the_retries_are_used_up_it_failed(runs: Runs):
    run = runs.start("exit 3", retries=1, backoff_seconds=0.01)
    assert run.end() == failed("replica 0 exited with code 3 (attempt 2 of 2)")


def test_a_stop_while_it_waits_for_the_next_attempt_ends_it(runs: Runs):
    run = runs.start("exit 3", retries=1, backoff_seconds=60)
    run.wait("restarting")
    run.stop()
    assert run.end() == {"is": "over"}
    assert run.lines("left")[0]["replicas"] == [0]


def test_who_runs_longer_than_it_may_is_stopped_and_has_failed_for_good(runs: Runs):
    run = runs.start("trap '' TERM; while :; do sleep 0.01; done", max_seconds=0.1, grace_ms=100, retries=5)
    assert run.end() == failed("ran longer than 0.1 s")


def test_touching_the_checkpoint_file_reports_a_checkpoint_and_the_last_one_counts(runs: Runs):
    run = runs.start(
        'touch "$QUOTATREE_CHECKPOINT_FILE"; while [ ! -e on ]; do sleep 0.01; done; touch "$QUOTATREE_CHECKPOINT_FILE"'
    )
    run.wait("checkpoint")
    run.work("on").touch()
    assert run.end() == succeeded()
    assert len(run.lines("checkpoint")) == 2


def test_a_checkpoint_file_that_is_a_link_is_looked_at_and_not_where_it_leads(runs: Runs, tmp_path: Path):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.touch()
    run = runs.start(
        f"ln -s {elsewhere} $QUOTATREE_CHECKPOINT_FILE; while [ ! -e finish ]; do sleep 0.01; done"
    )
    run.wait("checkpoint")
    os.utime(elsewhere, ns=(0, elsewhere.stat().st_mtime_ns + 10**9))
    run.work("finish").touch()
    assert run.end() == succeeded()
    assert len(run.lines("checkpoint")) == 1


def test_a_checkpoint_written_on_notice_is_told_before_the_replica_has_left(runs: Runs):
    run = runs.start(
        "trap 'touch \"$QUOTATREE_CHECKPOINT_FILE\"; exit 0' TERM; echo up; while :; do sleep 0.01; done"
    )
    run.wait_for_output(b"up")
    run.stop()
    assert run.end() == {"is": "over"}
    assert [entry["is"] for entry in run.journal][-3:] == ["checkpoint", "left", "over"]


def test_a_checkpoint_of_an_earlier_run_is_not_reported_again(runs: Runs):
    run = runs.prepare("true")
    os.mkdir(run.dir.job.checkpoints)
    Path(run.dir.job.checkpoint_file).touch()
    run.supervise()
    assert run.end() == succeeded()
    assert run.lines("checkpoint") == []


@pytest.mark.parametrize(
    ("program", "why"),
    [
        ({"command": ["no-such-command", "x"]}, "command not found: no-such-command"),
        ({"command": ["/etc"]}, "command cannot be run: /etc: Permission denied"),
        ({"command": ["true"], "workdir": "/no/such"}, "working directory cannot be used: /no/such: No such file or directory"),
        ({"command": ["true"], "user": "no-such-user"}, "cannot be started: there is no user no-such-user on this machine"),
    ],
)  # fmt: skip
def test_what_cannot_be_started_fails_with_the_reason_and_is_not_tried_again(runs: Runs, program, why):
    assert runs.start(**program, retries=3).end() == failed(why)


def test_a_script_whose_interpreter_is_missing_says_so(runs: Runs, engine_directory: Path):
    script = engine_directory / "script"
    script.write_text("#!/no/such/interpreter\n")
    script.chmod(0o755)
    run = runs.start([str(script)])
    assert run.end() == failed(f"command not found: the interpreter that {script} names in its first line")


def test_secrets_reach_the_replica_and_no_file(runs: Runs, engine_directory: Path):
    run = runs.start("[ ${#TOKEN} = 7 ] && echo known", secrets={"TOKEN": "hunter2"})
    assert run.end() == succeeded()
    assert run.log() == b"known\n"
    written = [path.read_bytes() for path in engine_directory.rglob("*") if path.is_file()]
    assert written
    assert not any(b"hunter2" in content for content in written)


def test_text_of_any_language_passes_unchanged(runs: Runs):
    run = runs.start(["sh", "-c", 'echo "$0 $GRUSS"; pwd', "größe"], env={"GRUSS": "你好"}, job="prüfung")
    assert run.end() == succeeded()
    assert run.log() == f"größe 你好\n{run.dir.job.work}\n".encode()


def test_it_sees_a_small_clean_environment_and_default_signals(runs: Runs, monkeypatch):
    monkeypatch.setenv("SERVER_PASSWORD", "secret")
    run = runs.start(["python3", "-c", (
        "import json, os, signal, sys\n"
        "ignored = [l for l in open('/proc/self/status') if l.startswith(('SigIgn', 'SigBlk'))]\n"
        "print(json.dumps([sorted(os.environ), ignored, sorted(os.listdir('/proc/self/fd'))]))"
    )], env={"MINE": "1"})  # fmt: skip
    assert run.end() == succeeded()
    names, signals, descriptors = json.loads(run.log())
    assert "SERVER_PASSWORD" not in names
    assert "MINE" in names
    # Python itself ignores SIGPIPE and SIGXFSZ; 32 and 33 are the C library's own, which nobody can set or reset.
    beyond_us = sum(1 << (number - 1) for number in (signal.SIGPIPE, signal.SIGXFSZ, 32, 33))
    assert [int(line.split()[1], 16) & ~beyond_us for line in signals] == [0, 0]
    assert len(descriptors) == 4, "stdin, stdout, stderr, and the one that lists them"


@pytest.mark.parametrize("command", [FOREVER, ["no-such-command"]])
def test_a_notice_that_comes_before_the_command_runs_is_not_lost(runs: Runs, command):
    """The process exists, exec is a moment away or just failing: SIGTERM must not meet a handler of the supervisor's."""
    for attempt in range(15):
        run = runs.prepare(command, replicas=3, job=f"early-{attempt}")
        run.stop(grace_ms=600_000)
        run.supervise()
        assert run.end() == {"is": "over"}


def test_only_one_supervisor_has_a_run(runs: Runs):
    run = runs.start(FOREVER)
    run.wait("confirmed")
    run.supervise_again()
    assert len(run.lines("supervising")) == len(run.lines("started")) == 1
    assert run.main().alive()


def test_a_run_that_is_over_is_not_run_again(runs: Runs):
    run = runs.start("echo once >> count")
    assert run.end() == succeeded()
    run.wait_for_its_supervisor()
    run.supervise_again()
    assert run.work("count").read_text() == "once\n"


def test_a_supervisor_told_by_a_signal_to_end_gives_the_grace_and_says_the_run_is_lost(runs: Runs):
    run = runs.start("trap 'echo noticed; exit 0' TERM; echo up; while :; do sleep 0.01; done")
    run.wait_for_output(b"up")
    supervisor = run.supervisor()
    assert supervisor is not None
    supervisor.send(signal.SIGTERM)
    assert run.end() == {"is": "lost", "detail": "its supervisor was told by a signal to end"}
    assert run.log().endswith(b"noticed\n")


def test_a_run_whose_directory_is_moved_ends_with_its_grace(runs: Runs, engine_directory: Path):
    """Orders given at the new place would not be heard."""
    run = runs.start("trap 'touch saved; exit 0' TERM; echo up; while :; do sleep 0.01; done")
    run.wait_for_output(b"up")
    supervisor = run.supervisor()
    assert supervisor is not None
    new = engine_directory / "elsewhere"
    os.rename(run.dir.job.path, new)
    run.dir = RunDir(new / "runs" / "1")
    assert run.end() == {"is": "lost", "detail": "its directory was moved"}
    assert (new / "work" / "saved").exists()


def test_orders_are_seen_although_the_signal_was_lost(runs: Runs):
    run = runs.start(FOREVER)
    run.wait("confirmed")
    journal.append(run.dir.orders, {"do": "stop", "replicas": None, "grace_ms": 1000})
    assert run.end() == {"is": "over"}
