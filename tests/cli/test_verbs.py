"""Every verb against a real server: what it does, what it prints, and its exit status."""

from __future__ import annotations

import csv
import io
import json

import pytest
import yaml

from quotatree.cli.look.nouns import NOUNS
from quotatree.sim.loaders import load_trace
from tests.cli.conftest import Cli, until

NAMES = [noun.word for noun in NOUNS]


@pytest.mark.parametrize("noun", NAMES)
@pytest.mark.parametrize("output", ["table", "wide", "json", "yaml", "name", "csv"])
def test_every_noun_in_every_format(cli: Cli, noun: str, output: str):
    cli.submit("--gpus", "1", "--name", "one")
    text = cli.run("get", noun, "-o", output).stdout
    if output == "json":
        assert isinstance(json.loads(text)["items"], list)
    elif output == "yaml":
        assert isinstance(yaml.safe_load(text)["items"], list)
    elif output == "name":
        assert all(line.startswith(f"{noun}/") for line in text.splitlines())
    elif output == "csv":
        rows = list(csv.reader(io.StringIO(text)))
        assert len({len(row) for row in rows}) == 1
    elif text:
        assert text.splitlines()[0].isupper()


def test_jobs_have_a_reason_and_a_place_in_the_queue(cli: Cli):
    running = cli.submit("--gpus", "8", "--priority", "5")
    cli.wait_phase(running, "Running")
    first = cli.submit("--gpus", "8", "--priority", "4")
    second = cli.submit("--gpus", "8", "--priority", "3")
    header, *rows = cli.lines("get", "jobs", "--phase", "Waiting", user="ann")
    table = {row.split()[0]: dict(zip(header.split(), row.split(), strict=False)) for row in rows}
    assert set(table) == {first, second}
    assert [cli.json("get", "job", job)["position"] for job in (first, second)] == [1, 2]
    assert rows[0].split()[-1] == cli.json("get", "job", second)["reason"]["code"]
    assert cli.lines("get", "jobs", "--no-headers", "--phase", "Waiting", user="ann") == rows


def test_finished_jobs_are_listed_only_when_asked_for(cli: Cli):
    job = cli.submit("--gpus", "1", "--seconds", "0")
    cli.wait_phase(job, "Succeeded")
    until(lambda: f"job/{job}" not in cli.lines("get", "jobs", "-o", "name"))
    assert f"job/{job}" in cli.lines("get", "jobs", "-a", "-o", "name")


def test_teams_see_only_their_own(cli: Cli):
    mine = cli.submit("--gpus", "1")
    assert f"job/{mine}" in cli.lines("get", "jobs", "-o", "name", user="ann")
    assert cli.run("get", "jobs", user="eve").stdout == ""
    cli.run("get", "job", mine, user="eve", status=3)
    cli.run("cancel", mine, user="eve", status=3)
    assert cli.lines("get", "workspaces", "-o", "name", user="eve") == ["workspace/speech"]


def test_a_filter_that_means_nothing_is_refused(cli: Cli):
    assert "--phase means nothing for quota" in cli.run("get", "quota", "--phase", "Running", status=2).stderr


@pytest.mark.parametrize(
    ("words", "user", "status"),
    [
        (("get", "job", "dlc-0000000000"), "ann", 3),
        (("get", "nonsense"), "ann", 2),
        (("scale", "vision", "4", "-y"), "ann", 4),
        (("get", "users"), None, 4),
        (("scale", "vision", "4000", "-y"), "admin", 1),
        (("get", "jobs", "--server", "http://127.0.0.1:1"), "ann", 6),
        (("delete", "quota", "vision"), "admin", 1),
    ],
)
def test_exit_statuses(cli: Cli, monkeypatch, words, user, status):
    monkeypatch.setattr("quotatree.client.transport.TRIES", 1)
    result = cli.run(*words, user=user, status=status)
    assert result.stdout == ""
    assert result.stderr


def test_words_may_be_small(cli: Cli):
    job = cli.submit("--gpus", "1", "--module", "dlc")
    cli.wait_phase(job, "Running")
    assert cli.lines("get", "jobs", "--phase", "running", "-o", "name") == [f"job/{job}"]


def test_submit_from_a_file_with_options_over_it(cli: Cli):
    path = cli.file("jobs.yaml", "jobs:\n- {workspace: vision, quota: vision, gpus: 1, name: a}\n"
                                 "- {workspace: vision, quota: vision, gpus: 1, name: b, priority: 2}\n")  # fmt: skip
    made = cli.json("submit", "-f", path, "--priority", "7", "--cpu", "4", user="ann")["items"]
    found = [cli.json("get", "job", one["id"]) for one in made]
    assert [job["name"] for job in found] == ["a", "b"]
    assert {job["priority"] for job in found} == {7}
    assert found[0]["groups"][0]["cpu"] == 4


def test_a_key_makes_one_job_of_two_submits(cli: Cli):
    assert cli.submit("--gpus", "1", "--key", "k-1") == cli.submit("--gpus", "1", "--key", "k-1")


def test_many_at_once_each_with_its_outcome(cli: Cli):
    path = cli.file("jobs.toml", '[[jobs]]\nworkspace = "vision"\nquota = "vision"\ngpus = 1\n'
                                 '[[jobs]]\nworkspace = "vision"\nquota = "speech"\ngpus = 1\n')  # fmt: skip
    result = cli.run("submit", "-f", path, user="ann", status=1)
    assert len(result.stdout.splitlines()) == 1
    assert "speech" in result.stderr


def test_submit_waits_for_the_end(cli: Cli):
    words = ("submit", "--workspace", "vision", "--quota", "vision", "--gpus", "1", "--wait")
    assert cli.lines(*words, "--seconds", "0.1", user="ann")[-1].endswith(" Succeeded")
    failing = '{"seconds": 0.1, "outcome": "failed"}'
    assert (
        cli.run(*words, "--program", failing, user="ann", status=1)
        .stdout.splitlines()[-1]
        .endswith(" Failed")
    )
    assert "listed with -a" in cli.run("get", "jobs").stderr
    told = '{"seconds": 0.1, "outcome": "failed", "detail": "no luck"}'
    job = cli.run(*words, "--program", told, user="ann", status=1).stdout.splitlines()[-1]
    assert job.endswith(" Failed: no luck")
    assert "    - no luck" in cli.lines("explain", job.split()[0], user="ann")
    assert cli.lines("get", "jobs", "-a", "--most", "1", "--no-headers")[0].endswith("no luck")


def test_hold_release_priority_cancel(cli: Cli):
    full = cli.submit("--gpus", "8")
    cli.wait_phase(full, "Running")
    job = cli.submit("--gpus", "8")
    cli.run("hold", job, user="ann")
    assert cli.phase(job) == "OnHold"
    cli.run("release", job, user="ann")
    assert cli.phase(job) == "Waiting"
    cli.run("priority", job, "3", user="ann")
    assert cli.json("get", "job", job)["priority"] == 3
    result = cli.run("cancel", job, "dlc-0000000000", user="ann", status=3)
    assert result.stdout == f"{job} cancelled\n"
    assert cli.phase(job) == "Cancelled"


def test_explain_and_queue(cli: Cli):
    full = cli.submit("--gpus", "8")
    cli.wait_phase(full, "Running")
    job = cli.submit("--gpus", "8", "--name", "later")
    lines = cli.lines("explain", "later", user="ann")
    assert lines[0] == f"later ({job}) is Waiting in vision"
    assert any("what would help" in line for line in lines)
    assert cli.json("explain", job, user="ann")["position"] == 1
    assert [line.split()[:4] for line in cli.lines("queue", "--no-headers")] == [["vision", "1", job, "1"]]
    assert cli.lines("queue", "-o", "name", "vision", user="ann") == [f"job/{job}"]
    assert "could be taken by" in cli.run("explain", full, user="ann").stdout


def test_describe(cli: Cli):
    job = cli.submit("--gpus", "8", "--name", "big")
    cli.wait_phase(job, "Running")
    text = cli.run("describe", "job", job, user="ann").stdout
    assert "_ms " not in text, "a moment is not told in milliseconds"
    for part in (f"job {job}", "name ", "runs:", "node-", "decisions, newest first:", "start: on node-"):
        assert part in text
    assert "figures:" in cli.run("describe", "quota", "vision").stdout
    assert "ann  developer" in cli.run("describe", "workspace", "vision").stdout
    assert yaml.safe_load(cli.run("describe", "quota", "vision", "-o", "yaml").stdout)["id"] == "vision"
    for noun, name in (("node", "node-0"), ("pool", "default"), ("user", "ann")):
        assert cli.lines("describe", noun, name)[0] == f"{noun} {name}"


def test_tree_and_top(cli: Cli):
    job = cli.submit("--gpus", "4")
    cli.wait_phase(job, "Running")
    assert ["├─", "vision", "████████████············", "4", "of", "8"] in [
        line.split() for line in cli.lines("tree")
    ]
    assert cli.lines("tree", user="eve")[0].startswith("speech  ")
    text = cli.run("top").stdout
    assert "jobs: 1 Running" in text
    assert "12 of 16 GPU free" in text
    assert "nodes:" not in cli.run("top", user="eve").stdout


def test_preview_changes_nothing(cli: Cli):
    job = cli.submit("--gpus", "8", "--priority", "1")
    cli.wait_phase(job, "Running")
    path = cli.file("job.toml", 'workspace = "vision"\nquota = "vision"\ngpus = 8\n')
    text = cli.run("preview", "--submit", path, user="ann").stdout
    assert "wait " in text
    seen = cli.json("preview", "--scale", "vision=4:reclaim")
    assert next(one["kind"] for one in seen["decisions"] if one["job"] == job) == "Evict"
    assert cli.phase(job) == "Running"
    cli.run("preview", "--scale", "vision=many", status=2)
    cli.run("preview", status=2)
    policy = cli.file("policy.yaml", "quota: vision\nself_level: {high: 6-9, low: 1-3}\n")
    assert job in cli.run("preview", "--policy", policy).stdout
    assert "draining" not in cli.run("preview", "--drain", "node-0", "--transfer", "speech:vision=1").stdout


def test_scale_asks_before_it_evicts(cli: Cli):
    job = cli.submit("--gpus", "8", "--grace", "0s")
    cli.wait_phase(job, "Running")
    try:
        assert "4 GPU" not in cli.run("scale", "vision", "4", "-y", status=1).stdout
        result = cli.run("scale", "vision", "4", "--mode", "reclaim", stdin="n\n", status=1)
        assert job in result.stdout
        assert cli.phase(job) == "Running"
        cli.run("scale", "vision", "4", "--mode", "reclaim", stdin="y\n")
        cli.wait_phase(job, "Waiting")
        assert cli.json("get", "quota", "vision")["min"] == {"gpus": 4}
    finally:
        cli.run("scale", "vision", "8", "-y")


def test_the_ledger_names_victims_and_costs(cli: Cli):
    """P1 by the company's child-level policy: a job of the company takes one of vision (P13)."""
    cli.run(
        "apply",
        "-y",
        "-f",
        cli.file("w.yaml", "workspaces: [{id: board, quotas: [company], members: {admin: owner}}]"),
    )
    victims = [cli.submit("--gpus", "8", "--priority", "1", "--grace", "0s", "--requeue")]
    victims.append(cli.submit("--gpus", "8", "--grace", "0s", "--requeue", user="eve", quota="speech"))
    for victim in victims:
        cli.wait_phase(victim, "Running")
    words = (
        "submit",
        "--workspace",
        "board",
        "--quota",
        "company",
        "--gpus",
        "8",
        "--priority",
        "9",
        "-o",
        "name",
    )
    taker = cli.lines(*words)[0].removeprefix("job/")
    cli.wait_phase(taker, "Running")
    rows = list(csv.DictReader(io.StringIO(cli.run("preemptions", "--job", taker, "-o", "csv").stdout)))
    assert [row["preemptor"] for row in rows] == [taker]
    assert rows[0]["victim"] in victims
    assert taker not in cli.run("preemptions", user="ann").output
    assert cli.json("preemptions", "--job", taker)["items"][0]["preemption"]["preemptor"] == taker
    cli.run("preemptions", "--since", "soon", status=2)


def test_transfer_and_back(cli: Cli):
    cli.run("transfer", "speech", "vision", "3")
    assert cli.json("get", "quota", "vision")["min"] == {"gpus": 11}
    cli.run("transfer", "vision", "speech", "3")
    assert cli.json("get", "quota", "vision")["min"] == {"gpus": 8}


def test_nodes_out_of_use_and_back(cli: Cli):
    job = cli.submit("--gpus", "8", "--requeue")
    cli.wait_phase(job, "Running")
    node = cli.json("get", "job", job)["places"][0]["node"]
    cli.run("cordon", node)
    assert cli.json("get", "node", node)["state"] == "Cordoned"
    assert "no answer" in cli.run("drain", node, status=1).stderr
    cli.run("drain", node, "-y")
    until(lambda: cli.json("get", "job", job)["run"] == 2)
    cli.run("uncordon", node)
    assert cli.json("get", "node", node)["state"] == "Ready"


def test_events_of_a_job_in_order(cli: Cli):
    job = cli.submit("--gpus", "1", "--seconds", "0")
    cli.wait_phase(job, "Succeeded")
    kinds = [event["kind"] for event in cli.json("events", "--job", job, user="ann")["items"]]
    assert kinds[0] == "job.submitted"
    assert kinds.index("job.submitted") < len(kinds) - 1


def test_snapshot_and_plan(cli: Cli):
    full = cli.submit("--gpus", "8")
    cli.wait_phase(full, "Running")
    job = cli.submit("--gpus", "8")
    path = str(cli.home / "now.json")
    cli.run("snapshot", "-f", path)
    assert cli.lines("plan", path) == ["nothing to decide"]
    snapshot = json.loads((cli.home / "now.json").read_text())
    for record in snapshot["snapshot"]["jobs"]:
        record.pop("told", None)
    untold = cli.file("untold.json", json.dumps(snapshot))
    assert cli.lines("plan", untold)[1].split()[:2] == ["wait", job]
    assert cli.json("plan", untold)["decisions"][0]["kind"] == "wait"
    cli.run("plan", untold, "--at", "5m", status=2)
    cli.run("snapshot", user="ann", status=4)
    cli.run("plan", cli.file("bad.json", "{}"), status=2)


def test_export_is_a_trace_the_simulator_reads(cli: Cli):
    job = cli.submit(
        "--gpus", "2", "--replicas", "2", "--priority", "4", "--seconds", "0.2", "--checkpoint-interval", "1m"
    )
    cli.wait_phase(job, "Succeeded")
    path = cli.home / "history.csv"
    cli.run("export", str(path), "--workspace", "vision", user="ann")
    found = {one.id: one for one in load_trace(path).jobs}[job]
    assert (found.replicas, found.gpu_milli, found.priority, found.team) == (2, 2000, 4, "vision")
    assert found.checkpoint_interval_ms == 60_000
    # A job of 0.2 s; its time counts from the start the engine confirmed, which is told a little late.
    assert 100 <= found.duration_ms < 5_000
    cli.run("export", "-", "--quota", "search", user="admin", status=2)


def test_a_watch_shows_what_changes_and_nothing_twice(cli: Cli, monkeypatch: pytest.MonkeyPatch):
    job = cli.submit("--gpus", "8")
    cli.wait_phase(job, "Running")

    def watch(events, *, workspace=(), opened=lambda: None, **_):
        opened()
        yield {"kind": "job.started", "job": job}
        cli.run("cancel", job)
        cli.wait_phase(job, "Cancelled")
        yield {"kind": "job.cancelled", "job": job}

    monkeypatch.setattr("quotatree.client.history.Events.watch", watch)
    header, first, second = cli.lines("get", "jobs", "-w", "--quota", "vision")
    assert header.split()[0] == "ID"
    assert " Running " in first
    assert " Cancelled " in second
    assert first.index("DLC") == second.index("DLC") == header.index("MODULE"), "columns stay where they are"
    assert "does not work for pool" in cli.run("get", "pools", "-w", status=2).stderr


def test_completion(cli: Cli):
    for shell in ("bash", "zsh", "fish"):
        assert "_QUOTATREE_COMPLETE" in cli.run("completion", shell).stdout


# -- webhooks, policies and loans ----------------------------------------------------------------------------------


def test_webhooks_are_made_listed_and_deleted(cli: Cli):
    made = cli.run("webhook", "create", "chat", "--url", "http://127.0.0.1:9/x", "--kind", "job.evicted")
    secret = made.stdout.strip()
    assert len(secret) > 30
    path = cli.file("secret", "a secret of twenty-five\n")
    words = ("--url", "http://127.0.0.1:9/y", "--workspace", "vision", "--secret-file", path)
    assert cli.run("webhook", "create", "mail", *words).stdout == "webhook/mail created\n"
    listed = cli.run("webhook", "list")
    assert [line.split()[:3] for line in listed.stdout.splitlines()[1:]] == [
        ["chat", "-", "job.evicted"],
        ["mail", "vision", "all"],
    ]
    assert secret not in listed.stdout
    assert "twenty-five" not in cli.run("webhook", "list", "-o", "json").stdout
    assert cli.run("webhook", "list", user="ann").stdout == "", "a developer manages none"
    cli.run("webhook", "create", "mine", "--url", "http://127.0.0.1:9/z", user="ann", status=4)
    cli.run("webhook", "create", "bad", "--url", "ftp://x", status=1)
    cli.run(
        "webhook", "create", "bad", "--url", "http://x", "--secret-file", str(cli.home / "none"), status=2
    )
    cli.run("webhook", "delete", "chat", "webhook/mail")
    cli.run("webhook", "delete", "chat", status=3)


def test_policies_go_out_and_in_in_both_spellings(cli: Cli):
    """P1, P2: what `show` writes `set` reads, in our spelling and in PAI's."""
    pai = """
QueueStrategy: PaiStrategyIntelligent
SelfQuotaPreemptionConfig:
  PreemptorPriorities: [6, 7, 8, 9]
  PreemptedPriorities: [1, 2, 3]
  PreemptedProducts: [DLC]
"""
    before = cli.run("policies", "show", "vision").stdout
    try:
        cli.run("policies", "set", "vision", "-f", cli.file("pai.yaml", pai))
        ours = json.loads(cli.run("policies", "show", "vision", "-o", "json").stdout)
        assert (ours["self_level"]["high"], ours["self_level"]["low"]) == ("6-9", "1-3")
        shown = cli.run("policies", "show", "quota/vision", "--pai").stdout
        assert "PreemptorPriorities" in shown
        cli.run("policies", "set", "vision", "-f", cli.file("again.yaml", shown))
        assert json.loads(cli.run("policies", "show", "vision", "-o", "json").stdout) == ours
        assert "priorities" in cli.run("policies", "show", "company").stdout
        cli.run("policies", "set", "vision", "-f", cli.file("bad.yaml", "[1]"), status=2)
        cli.run("policies", "set", "vision", "-f", cli.file("bad2.yaml", "colour: red"), status=1)
        cli.run("policies", "set", "vision", "-f", cli.file("pai.yaml", pai), user="ann", status=4)
    finally:
        cli.run("policies", "set", "vision", "-f", cli.file("before.yaml", before))


def test_a_loan_is_returned_by_hand(cli: Cli):
    """P3, P15: vision takes what speech leaves unused, and gives it back when its admin says so."""
    policy = "self_level: {high: 6-9, low: 1-5, modules: [DLC], scope: level}\n"
    before = cli.run("policies", "show", "vision").stdout
    cli.run("policies", "set", "vision", "-f", cli.file("loan.yaml", policy))
    try:
        own = cli.submit("--gpus", "8", "--priority", "1", "--grace", "0s")
        cli.wait_phase(own, "Running")
        borrower = cli.submit("--gpus", "8", "--priority", "7", "--grace", "0s", "--requeue")
        cli.wait_phase(borrower, "Running")
        assert cli.json("get", "quota", "vision")["usage"]["loan"]["gpus"] == 8
        cli.run("return-loan", "vision", user="ann", status=4)
        assert "no answer" in cli.run("return-loan", "vision", status=1).stderr
        assert cli.phase(own) == cli.phase(borrower) == "Running"
        assert "goes back to its min" in cli.run("return-loan", "vision", "-y").stdout
        until(
            lambda: (
                "Running" in {cli.phase(own), cli.phase(borrower)} and cli.phase(own) != cli.phase(borrower)
            )
        )
        assert cli.json("get", "quota", "vision")["usage"]["loan"]["gpus"] == 0
    finally:
        cli.run("policies", "set", "vision", "-f", cli.file("before.yaml", before))


def test_a_job_may_be_called_by_its_name(cli: Cli):
    """An id that one must copy is one step too many."""
    first = cli.submit("--gpus", "1", "--name", "mine")
    assert cli.json("get", "job", "mine", user="ann")["id"] == first
    assert first in cli.run("describe", "job", "job/mine", user="ann").stdout
    second = cli.submit("--gpus", "1", "--name", "mine")
    both = cli.run("cancel", "mine", user="ann", status=2).stderr
    assert first in both
    assert second in both
    cli.run("cancel", first, user="ann")
    assert cli.run("cancel", "mine", user="ann").stdout == f"{second} cancelled\n"
    assert cli.json("get", "job", "mine", user="ann")["id"] == second, "the newest of those that are over"
    cli.run("explain", "nobody", user="ann", status=3)
