"""CPU, memory and user of a replica, on the control groups this machine has. Issue 5, part 2."""

import os
import pwd
import resource
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

from quotatree.engines.local.files.layout import EngineDir
from quotatree.engines.local.host import cgroups, open_files, users
from quotatree.engines.local.host.cgroups import Groups, hierarchies
from quotatree.engines.local.server.birth import SOURCE, make_directories
from quotatree.engines.local.supervisor.nursery import Nursery
from tests.engines.local.supervised import Runs
from tests.engines.local.supervisor.test_supervisor import failed, succeeded

ONE_GROUP = {"cpu_milli": 1500, "memory_mib": 48}


def usable() -> set[str]:
    groups = Groups(f"probe-{os.getpid()}", cgroups.find_hierarchies())
    group, notice = groups.make("probe", {"cpu_milli": 1000, "memory_mib": 64})
    if group is not None:
        group.remove()
    groups.tidy()
    return {"cpu", "memory"} - {word for word in ("cpu", "memory") if word in notice}


def needs(controller: str) -> None:
    if controller not in usable():
        pytest.skip(f"no control group of ours may limit {controller} on this machine")


def test_who_takes_more_memory_than_it_may_fails_and_is_told_so(runs: Runs):
    needs("memory")
    run = runs.start(["python3", "-c", "x = bytearray(200 << 20)"], memory_mib=48)
    assert run.end() == failed("replica 0 was killed by signal KILL: out of memory (limit 48 MiB)")


def test_cpu_and_memory_of_the_order_are_the_limits_of_its_group(runs: Runs):
    needs("cpu")
    needs("memory")
    run = runs.start(["sleep", "1000"], cpu_milli=1500, memory_mib=48)
    run.wait("confirmed")
    found = {
        name: Path(path, name).read_text().strip()
        for path in run.lines("started")[0]["groups"]
        for name in ("cpu.max", "cpu.cfs_quota_us", "memory.max", "memory.limit_in_bytes")
        if Path(path, name).exists()
    }
    assert found.get("cpu.max", found.get("cpu.cfs_quota_us")) in ("150000 100000", "150000")
    assert found.get("memory.max", found.get("memory.limit_in_bytes")) == str(48 << 20)
    assert run.lines("notice") == []


def test_a_fork_bomb_leaves_room_for_others(runs: Runs):
    run = runs.start(["sleep", "1000"])
    run.wait("confirmed")
    limits = [Path(path, "pids.max") for path in run.lines("started")[0]["groups"]]
    found = [path.read_text().strip() for path in limits if path.exists()]
    if not found:
        pytest.skip("no control group of ours may limit the number of processes on this machine")
    assert found[0] == str(cgroups.most_processes())
    assert 1 < cgroups.most_processes() < int(Path("/proc/sys/kernel/pid_max").read_text())


def test_without_limits_nothing_is_said_about_them(both_ways: Runs):
    run = both_ways.start("true")
    assert run.end() == succeeded()
    assert run.lines("notice") == []


def test_where_no_group_may_be_made_it_runs_and_says_what_is_not_kept(tmp_path: Path):
    groups = Groups("e", [cgroups.Hierarchy(str(tmp_path / "none"), frozenset({"cpu", "memory"}), v2=False)])
    group, notice = groups.make("a", ONE_GROUP)
    assert group is None
    assert notice == (
        "the limit of cpu and memory is not kept on this machine: no control group of ours may limit it"
    )


def test_v2_controllers_are_handed_down_and_used_before_v1(tmp_path: Path):
    """On plain files: no machine has the CPU controller in both."""
    v2, v1 = tmp_path / "v2", tmp_path / "v1"
    for path in (
        v2,
        v2 / "quotatree-e",
        v2 / "quotatree-e" / "a",
        v1,
        v1 / "quotatree-e",
        v1 / "quotatree-e" / "a",
    ):
        path.mkdir()
    for path in (v2, v2 / "quotatree-e"):
        (path / "cgroup.subtree_control").touch()
    (v2 / "cgroup.controllers").write_text("cpuset cpu io\n")
    for name in ("cpu.max",):
        (v2 / "quotatree-e" / "a" / name).touch()
    for name in ("memory.limit_in_bytes", "cpu.cfs_quota_us", "cpu.cfs_period_us"):
        (v1 / "quotatree-e" / "a" / name).touch()
    groups = Groups(
        "e",
        [
            cgroups.Hierarchy(str(v2), frozenset(), v2=True),
            cgroups.Hierarchy(str(v1), frozenset({"cpu", "memory"}), v2=False),
        ],
    )
    group, notice = groups.make("a", ONE_GROUP)
    assert group is not None
    assert notice == ""
    assert (v2 / "cgroup.subtree_control").read_text() == "+cpu"
    assert (v2 / "quotatree-e" / "a" / "cpu.max").read_text() == "150000 100000"
    assert (v1 / "quotatree-e" / "a" / "cpu.cfs_quota_us").read_text() == ""
    assert (v1 / "quotatree-e" / "a" / "memory.limit_in_bytes").read_text() == str(48 << 20)


def test_our_own_group_is_found_by_mount_and_membership(tmp_path: Path):
    (tmp_path / "unified/user/us").mkdir(parents=True)
    (tmp_path / "memory/inner").mkdir(parents=True)
    mounts = (
        f"30 1 0:26 / {tmp_path}/unified rw - cgroup2 cgroup2 rw\n"
        f"31 1 0:27 /outer {tmp_path}/memory rw - cgroup cgroup rw,memory\n"
        f"32 1 0:28 / {tmp_path}/cpu rw - cgroup cgroup rw,cpu,cpuacct\n"
        "33 1 0:29 / /proc rw - proc proc rw\n"
    )
    membership = "3:memory:/outer/inner\n2:cpu,cpuacct:/../elsewhere\n0::/user/us/quotatree-server\n"
    found = hierarchies(membership, mounts)
    assert [(h.own, sorted(h.controllers), h.v2) for h in found] == [
        (f"{tmp_path}/unified/user/us", [], True),
        (f"{tmp_path}/memory/inner", ["memory"], False),
    ]


def test_groups_of_a_run_are_not_those_of_another_whose_name_begins_alike(tmp_path: Path):
    (tmp_path / "quotatree-e").mkdir()
    groups = Groups("e", [cgroups.Hierarchy(str(tmp_path), frozenset(), v2=True)])
    for job, run in (("a", 1), ("a", 11), ("a+1", 1), ("a-1", 1)):
        groups.make(cgroups.group_name(job, run, 0), {})
    assert [Path(group.paths[0]).name for group in groups.of_run("a", 1)] == ["a+1+0"]


def test_it_runs_as_the_configured_user_who_owns_its_directories(runs: Runs):
    if os.geteuid() != 0:
        pytest.skip("only root can run jobs as somebody else")
    nobody = pwd.getpwnam("nobody")
    run = runs.start(
        "id -u; id -G; echo kept > $QUOTATREE_CHECKPOINT_DIR/x; touch here; sleep 1000", user="nobody"
    )
    run.wait_until(lambda: run.work("here").exists(), "the file")
    run.wait_for_output(f"{nobody.pw_uid}\n{nobody.pw_gid}\n".encode())
    for path in (run.dir.job.work, run.dir.job.checkpoints):
        assert (os.stat(path).st_uid, os.stat(path).st_mode & 0o777) == (nobody.pw_uid, 0o700)
    run.kill_supervisor()
    run.wait_until(lambda: not run.main().alive(), "its death with the supervisor, also as another user")


def test_a_directory_of_another_user_is_named_with_whose_it_is(runs: Runs):
    """As when the server was told another user since the last run."""
    if os.geteuid() != 0:
        pytest.skip("only root can run jobs as somebody else")
    run = runs.prepare("pwd", user="nobody")
    os.mkdir(run.dir.job.work, 0o700)
    run.supervise()
    why = f"working directory cannot be used: {run.dir.job.work}: Permission denied"
    assert run.end() == failed(f"{why} (it belongs to root, and jobs run as nobody)")


def test_directories_that_a_killed_server_did_not_come_to_give_away_are_given(engine_directory: Path):
    if os.geteuid() != 0:
        pytest.skip("only root can give directories away")
    job = EngineDir(engine_directory).job("a")
    for path in (job.path, job.work, job.checkpoints):
        os.makedirs(path, 0o700)
    (Path(job.checkpoints) / "of-root").touch()
    nobody = users.find("nobody")
    make_directories(job, job.run(1), nobody)
    assert os.stat(job.work).st_uid == nobody.uid
    assert os.stat(job.checkpoints).st_uid == 0, "somebody's files are in it"


@pytest.fixture
def few_files(monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    """As many as a shell grants on most machines, in small."""
    monkeypatch.setattr(open_files, "_usual", 0)  # an engine of another test may have asked for more
    usual, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (200, most))
    yield 200
    resource.setrlimit(resource.RLIMIT_NOFILE, (usual, most))


def test_a_run_may_need_more_open_files_than_its_jobs_are_given(few_files: int, engine_directory: Path):
    nursery = Nursery(SOURCE)
    runs = Runs(nursery, engine_directory, uuid.uuid4().hex[:8], limits=False)
    try:
        run = runs.start("ulimit -Sn; while [ ! -e finish ]; do sleep 0.1; done", replicas=few_files // 2)
        run.wait_until(
            lambda: sum(len(line["replicas"]) for line in run.lines("confirmed")) == 100, "all of them"
        )
        run.work("finish").touch()
        assert run.end() == succeeded()
        assert run.log(99) == b"200\n"
    finally:
        runs.close()
        nursery.close()
