"""`describe` against a real server: everything about one thing."""

from __future__ import annotations

import re

import yaml

from quotatree.client.types import CentreIn
from tests.cli.conftest import Cli, until


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


def test_a_quota_tells_its_workspaces_and_who_changed_what_from_what_to_what(cli: Cli):
    """W1, Q6: the history keeps names and values; one who may not know the actor does not learn it (W2)."""
    try:
        cli.run("scale", "vision", "6", "-y")
        cli.run("policy", "set", "vision", "--child-level", "1-3", "--no-lending", "-y")
        text = cli.run("describe", "quota", "vision").stdout
        assert "workspaces        vision" in text
        assert "quota.scaled by admin\n    min: 8 GPU -> 6 GPU\n" in text
        assert (
            "quota.updated by admin\n    child_level: none -> 1-3 DLC,DSW\n    lending: on -> off\n" in text
        )
        outsider = cli.run("describe", "quota", "vision", user="ann").stdout
        assert "quota.scaled by [hidden]\n    min: 8 GPU -> 6 GPU" in outsider
    finally:
        cli.run(
            "policy", "set", "vision", "-y", "-f", cli.file("p.yaml", "{child_level: null, lending: true}")
        )
        cli.run("scale", "vision", "8", "-y")


def test_names_of_priorities_stand_beside_their_numbers(cli: Cli):
    """W6: in policies and in the limits of a scheduling centre."""
    cli.run("priorities", "set", "production=8", "nightly=2")
    centre: CentreIn = {
        "amounts": [{"who": "role:developer", "priorities": "7-9", "gpus": 4}],
        "ceilings": [{"who": "user:ann", "priority": 8}],
    }
    try:
        cli.run("policy", "set", "vision", "--self-level", "8:1-3", "-y")
        cli.run("create", "workspace", "ruled", "--quota", "vision")
        cli.run("create", "member", "ann", "--workspace", "ruled")
        with cli.serving.client() as client:
            client.workspaces.set_centre("ruled", "vision", centre)
        assert "8 (production) over 1-3 (nightly 2) DLC,DSW" in cli.run("describe", "quota", "vision").stdout
        assert "8 (production) over 1-3 (nightly 2)" in cli.run("get", "quota", "vision", "-o", "wide").stdout
        assert "# 8 is production" in cli.run("policy", "show", "vision").stdout
        told = cli.run("describe", "workspace", "ruled").stdout
        assert "role:developer: at most 4 GPU at 7-9 (production 8)" in told
        assert "user:ann: at most priority 8 (production)" in told
        assert cli.json("get", "quota", "vision")["priority_names"] == {"production": 8, "nightly": 2}
    finally:
        cli.run("delete", "workspace", "ruled")
        cli.run("policy", "set", "vision", "-y", "-f", cli.file("p.yaml", "self_level: null"))
        cli.run("priorities", "remove", "production", "nightly")


def test_a_service_that_grows_is_told_so_everywhere(cli: Cli):
    """P12: POS and REASON of the list, position, why and history of `describe` say the same of a service that waits for replicas."""
    fill = cli.submit("--gpus", "4", "--name", "fill")
    cli.wait_phase(fill, "Running")
    service = cli.submit("--gpus", "4", "--module", "EAS", "--name", "answers")
    cli.wait_phase(service, "Running")
    with cli.serving.client("ann") as client:
        client.jobs.resize(service, replicas=2)
        text = cli.run("describe", "job", service, user="ann").stdout
        assert re.search(r"^  position +1$", text, re.MULTILINE), text
        assert "position 1" in text[text.index("why:") :]
        assert [job["position"] for job in cli.json("get", "jobs")["items"] if job["id"] == service] == [1]
        client.jobs.cancel(fill)
    until(lambda: cli.json("get", "job", service)["running_replicas"] == 2)
    told = cli.json("describe", "job", service)
    assert told["position"] is None
    newest = told["history"][0]["decision"]
    assert newest["grows"]
    assert told["reason_code"] == newest["reason"]["code"], "REASON is the last thing that was decided"
    assert " grow: on node-" in cli.run("describe", "job", service).stdout
