"""`apply`: a file is made so, in an order that works; twice changes nothing."""

from __future__ import annotations

import pytest

from tests.cli.conftest import TREE, Cli

TEAM = """
users: [zoe]
quotas:
  - id: lab
    parent: company
    min: {gpus: 0}
    self_level: {high: 6-9, low: 1-5, scope: own}
    min_runtime: 90s
    labels: {cost: "7"}
    admins: [ann]
    children:
      - {id: lab-a, min: {gpus: 0}, strategy: fifo}
workspaces:
  - id: lab
    description: the lab
    members: {ann: [owner, developer], zoe: viewer}
    quotas:
      lab-a:
        modules: [DLC]
        ceilings: [{who: "role:developer", priority: 5}]
        amounts: [{who: "user:ann", priorities: 4, gpus: 2}]
        longest_run: 1h
"""


def apply(cli: Cli, text: str, *words: str, **extra):
    return cli.run("apply", "-f", cli.file("tree.yaml", text), *words, **extra)


def test_twice_changes_nothing(cli: Cli):
    assert "+ quota lab-a below lab" in apply(cli, TEAM, "-y").stdout
    assert apply(cli, TEAM).stdout == "everything is as the file says\n"
    assert apply(cli, TREE).stdout == "everything is as the file says\n"


def test_other_spellings_are_no_difference(cli: Cli):
    apply(cli, TEAM, "-y")
    other = TEAM.replace("90s", "1m30s").replace("priorities: 4", 'priorities: "4"').replace("1h", "60m")
    assert apply(cli, other).stdout == "everything is as the file says\n"


def test_what_a_file_leaves_out_of_a_quota_gets_its_default(cli: Cli):
    apply(cli, TEAM, "-y")
    less = TEAM.replace("    self_level: {high: 6-9, low: 1-5, scope: own}\n", "")
    told = apply(cli, less, "-y").stdout
    assert (
        "~ quota lab: self_level (high 6-9, low 1-5, modules DLC,DSW, scope own, enabled yes) -> none" in told
    )
    assert cli.json("get", "quota", "lab")["self_level"] == []


def test_a_policy_is_switched_off_and_on_and_keeps_its_settings(cli: Cli):
    """P1, P2: a file may say no more than the switch."""
    apply(cli, TEAM, "-y")
    said = "self_level: {high: 6-9, low: 1-5, scope: own}"
    assert (
        "self_level (high 6-9"
        in apply(cli, TEAM.replace(said, "self_level: off\n    child_level: on"), "-y").stdout
    )
    kept = cli.json("get", "quota", "lab")
    assert [(one["high"], one["scope"], one["enabled"]) for one in kept["self_level"]] == [
        ("6-9", "own", False)
    ]
    assert kept["child_level"] == {"priorities": "1-9", "modules": ["DLC", "DSW"], "enabled": True}
    assert "(off)" in cli.run("get", "quota", "lab", "-o", "wide").stdout
    switched = TEAM.replace(said, "self_level: {}\n    child_level: {enabled: true}")
    assert "child_level" not in apply(cli, switched, "-y").stdout
    assert cli.json("get", "quota", "lab")["self_level"] == [{**kept["self_level"][0], "enabled": True}]
    assert (
        apply(cli, TEAM.replace(said, "self_level: [1]"), "-y", status=2).stderr.count("self_level[0]") == 1
    )
    apply(cli, TEAM, "-y")


def test_a_policy_without_its_switch_is_on_since_a_file_says_the_whole_quota(cli: Cli):
    """P1: so that the same file makes the same of any server."""
    apply(cli, TEAM, "-y")
    cli.run("policy", "off", "lab", "self-level")
    assert "~ quota lab: self_level" in apply(cli, TEAM, "-y").stdout
    assert cli.json("get", "quota", "lab")["self_level"][0]["enabled"]
    assert apply(cli, TEAM).stdout == "everything is as the file says\n"


def test_a_weight_goes_in_and_out(cli: Cli):
    """S6: 65536Mi is 64Gi, so said again it changes nothing."""
    said = "self_level: {high: 6-9, low: 1-5, scope: own}"
    heavy = TEAM.replace(said, "weight: {gpus: 48, memory: 65536Mi}\n    fair_idle: true")
    apply(cli, heavy, "-y")
    assert cli.json("get", "quota", "lab")["weight"] == {"gpus": 48, "memory": "64Gi"}
    assert "quota lab:" not in apply(cli, heavy, "-y").stdout
    assert "weight (gpus 48, memory 64Gi) -> none; fair_idle yes -> no" in apply(cli, TEAM, "-y").stdout


def test_a_file_may_use_pais_words(cli: Cli):
    """P1, P2, S7: a list with a gap is several policies, and said again it changes nothing."""
    said = "self_level: {high: 6-9, low: 1-5, scope: own}"
    pai = """QueueStrategy: PaiStrategyBalance
    SelfQuotaPreemptionConfig: {PreemptorPriorities: [6, 8, 9], PreemptedPriorities: [2, 1], PreemptedProducts: [DLC]}
    SubQuotaPreemptionConfig: {PreemptedPriorityUpperBound: 3, PreemptedProducts: [DLC]}
    EnableSubQuotaPreemption: false"""
    apply(cli, TEAM.replace(said, pai), "-y")
    kept = cli.json("get", "quota", "lab")
    assert [(one["high"], one["low"]) for one in kept["self_level"]] == [("6", "1-2"), ("8-9", "1-2")]
    assert kept["child_level"] == {"priorities": "1-3", "modules": ["DLC"], "enabled": False}
    assert kept["strategy"] == "balance"
    assert "quota lab" not in apply(cli, TEAM.replace(said, pai), "-y").stdout
    twice = apply(cli, TEAM.replace(said, f"{said}\n    {pai}"), "-y", status=2)
    assert "leave one of them out" in twice.stderr
    apply(cli, TEAM, "-y")


def test_members_and_bindings_come_and_go(cli: Cli):
    apply(cli, TEAM, "-y")
    told = apply(cli, TEAM.replace(", zoe: viewer", ""), "-y").stdout
    assert "- member zoe of lab: viewer" in told
    told = apply(cli, TEAM.replace("lab-a:\n        modules", "lab:\n        modules"), "-y").stdout
    assert "+ quota lab for workspace lab" in told
    assert "- quota lab-a for workspace lab" in told
    apply(cli, TEAM, "-y")


def test_sizes_change_in_an_order_that_works(cli: Cli):
    """The whole company is given away, so one side must shrink before the other grows, whatever the file's order (Q3)."""
    swapped = TREE.replace("{id: vision, min: {gpus: 8}}", "{id: vision, min: {gpus: 12}}")
    swapped = swapped.replace("{id: speech, min: {gpus: 8}}", "{id: speech, min: {gpus: 4}}")
    lines = apply(cli, swapped, "-y").stdout.splitlines()
    assert lines[:2] == ["~ quota speech: 8 GPU -> 4 GPU", "~ quota vision: 8 GPU -> 12 GPU"]
    assert apply(cli, TREE, "-y").stdout.splitlines()[0] == "~ quota vision: 12 GPU -> 8 GPU"


def test_it_shows_who_would_have_to_go_and_asks(cli: Cli):
    job = cli.submit("--gpus", "8", "--priority", "2", "--grace", "0s")
    cli.wait_phase(job, "Running")
    smaller = TREE.replace("{id: vision, min: {gpus: 8}}", "{id: vision, min: {gpus: 4}}")
    result = apply(cli, smaller, "--mode", "reclaim", stdin="n\n", status=1)
    assert f"evict     {job}" in result.stdout
    assert cli.phase(job) == "Running"
    assert cli.json("get", "quota", "vision")["min"] == {"gpus": 8}
    assert "nothing has been changed" in apply(cli, smaller, "--mode", "reclaim", "--dry-run").stdout
    assert cli.json("get", "quota", "vision")["min"] == {"gpus": 8}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("quotes: []", "unknown field quotes"),
        ("quotas: [{min: {gpus: 1}}]", "id is missing"),
        ("quotas: [{id: a, prio: 3}]", "unknown field prio"),
        ("quotas: [{id: a}, {id: a}]", "a is said twice"),
        ("nodes: [{name: n, count: 0}]", "count of n"),
        ("workspaces: [{id: w, members: [ann]}]", "members of w"),
        ("quotas: [", "tree.yaml"),
        ("quotas: [{id: a, children: [{id: b, parent: c}]}]", "b: stands below a"),
        (
            "quotas: [{id: vision, parent: company, weight: 48}]",
            "tree.yaml: quota vision: weight 48: must be a table",
        ),
        ("quotas: [{id: company, draws: {default: 32}}]", "quota company: draws.default 32: must be a table"),
        (
            "quotas: [{id: vision, parent: company, admins: ann}]",
            'quota vision: admins "ann": must be a list',
        ),
        (
            "quotas: [{id: vision, min: {gpus: 8}}]",
            "quota vision: has no parent here, but it is below company",
        ),
        (
            "workspaces: [{id: vision, quotas: {vision: 5}}]",
            "workspace vision: quotas.vision 5: must be a table",
        ),
    ],
)
def test_bad_files(cli: Cli, text: str, said: str):
    assert said in apply(cli, text, status=2).stderr


def test_nodes_by_count(cli: Cli):
    told = apply(cli, "nodes: [{name: extra, count: 2, pool: spare, gpus: 4}]", "--dry-run").stdout
    assert "+ node extra-0: 4 x GPU in spare" in told
    assert "2 change(s); nothing has been changed" in told


# -- a file that can only be applied in part -----------------------------------------------------------------------

PARTLY = """
users: [pia]
quotas:
  - {id: pilot, parent: company, min: {gpus: 0}}
workspaces:
  - {id: pilot, members: {ghost: viewer, pia: developer}, quotas: [pilot]}
"""


def test_a_refused_change_says_what_was_made_and_what_not(cli: Cli):
    """There is no user ghost. What came before stays, and applying again goes on from there."""
    failed = apply(cli, PARTLY, "-y", status=1)
    told = failed.stderr.splitlines()
    assert "ghost" in told[0]
    assert told[1:] == [
        "made, and stays so:",
        "  + user pia",
        "  + quota pilot below company: 0 GPU",
        "  + workspace pilot",
        "not made:",
        "  + member ghost of pilot: viewer",
        "not tried:",
        "  + member pia of pilot: developer",
        "  + quota pilot for workspace pilot",
        "3 of 6 change(s) made; apply again when it can be made: it goes on from here",
    ]
    assert "made" not in failed.stdout
    assert cli.json("get", "quota", "pilot")["parent"] == "company"
    assert cli.json("get", "workspace", "pilot")["members"] == []

    cured = PARTLY.replace("[pia]", "[pia, ghost]")
    lines = apply(cli, cured, "-y").stdout.splitlines()
    assert [line for line in lines if line.startswith("+")] == [
        "+ user ghost",
        "+ member ghost of pilot: viewer",
        "+ member pia of pilot: developer",
        "+ quota pilot for workspace pilot",
    ]
    assert apply(cli, cured).stdout == "everything is as the file says\n"


def test_what_a_preview_refuses_changes_nothing(cli: Cli):
    """Q1: the children of company would have more than company; the user that stands before them is not made either."""
    greedy = "users: [gus]\nquotas: [{id: greedy, parent: company, min: {gpus: 99}}]\n"
    assert "nothing has been changed" in apply(cli, greedy, "-y", status=1).stderr
    assert "gus" not in [user["name"] for user in cli.json("get", "users")["items"]]


def test_a_change_whose_answer_is_lost_is_not_called_unmade(cli: Cli, monkeypatch: pytest.MonkeyPatch):
    """The server may have made it: only applying again tells."""
    from quotatree.client.errors import NotReachable
    from quotatree.client.workspaces import Workspaces

    def cut(*_: object, **__: object) -> None:
        raise NotReachable("cut off")

    monkeypatch.setattr(Workspaces, "create", cut)
    text = "users: [ida]\nworkspaces:\n  - {id: lost, members: {ida: viewer}}\n"
    told = apply(cli, text, "-y", status=6).stderr
    assert "made, and stays so:\n  + user ida\nnot known whether it was made:\n  + workspace lost\n" in told


def test_apply_says_which_running_jobs_a_longest_run_would_end(cli: Cli):
    apply(cli, TEAM, "-y")
    job = cli.submit("--gpus", "1")
    cli.wait_phase(job, "Running")
    limit = """
workspaces:
  - id: {workspace}
    quotas:
      {quota}: {{longest_run: {{DLC: 1ms, EAS: 2d}}}}
"""
    known = cli.json("get", "job", job)
    text = limit.format(workspace=known["workspace"], quota=known["quota"])
    said = apply(cli, text, "--dry-run").stdout
    assert "this would be taken:" in said
    assert job in said
    assert "LongestRun" in said or "ran longer" in said
    assert cli.phase(job) == "Running"
