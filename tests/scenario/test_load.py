"""Bad input: the message names the file, the table, the field, its value and what is allowed (E5)."""

from pathlib import Path

import pytest

from quotatree.scenario.errors import RuleBroken, ScenarioError
from quotatree.scenario.load import load_scenario, read_scenario
from quotatree.scenario.run import Player

BASE = """
title = "a small world"
[[nodes]]
name = "n0"
[[quotas]]
id = "lab"
gpus = 8
"""

JOB = '[[running]]\nid = "j"\nquota = "lab"\n'


def complaint(text: str) -> str:
    with pytest.raises(ScenarioError) as caught:
        Player(read_scenario(text, "world.toml"))
    return str(caught.value)


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ("[[nodes]]\n", "world.toml: [[nodes]]: needs exactly one of name, name_prefix; it has none of them"),
        ('[[nodes]]\nname = "x"\nname_prefix = "y"\n', "it has name and name_prefix"),
        ('[[nodes]]\nname_prefix = "y"\n', "world.toml: [[nodes]] y*: count is missing"),
        ('[[nodes]]\nname_prefix = "y"\ncount = 0\n', "count = 0: must be at least 1"),
        ('[[nodes]]\nname = "x"\ngpu = 8\n', "[[nodes]] x: gpu is not a field here; did you mean gpus? allowed: "),
        ('[[nodes]]\nname = "x"\ngpus = "8"\n', "gpus = '8': must be a whole number, 0 or more"),
        ('[[nodes]]\nname = "x"\nmemory = 64\n', 'memory = 64: must be an amount of memory such as "512Mi"'),
        ('[[nodes]]\nname = "x"\nstate = "Broken"\n', "must be one of Ready, Cordoned, Draining, Lost"),
        ('[[nodes]]\nname = "x"\nlabels = ["r1"]\n', 'must be a table of texts such as {rack = "r1"}'),
        ("[[quotas]]\ngpus = 8\n", "world.toml: [[quotas]]: id is missing"),
        ('[[quotas]]\nid = "q"\n', "[[quotas]] q: needs exactly one of draws, gpus; it has none of them"),
        ('[[quotas]]\nid = "q"\nparent = "lab"\ngpus = -1\n', "gpus = -1: must be a number of GPUs such as 8 or 0.5"),
        ('[[quotas]]\nid = "q"\nparent = "lab"\ngpus = 0.0001\n', "gpus = 0.0001: must be a number of GPUs"),
        ('[[quotas]]\nid = "q"\nparent = "lab"\ngpus = 1e308\n', "gpus = 1e+308: must be a number of GPUs"),
        ('[[quotas]]\nid = "q"\nparent = "lab"\ngpus = nan\n', "gpus = nan: must be a number of GPUs"),
        (f'[[quotas]]\nid = "q"\nparent = "lab"\nmin_runtime = "{"9" * 400}h"\n', 'must be a duration such as "90s"'),
        (f'[[nodes]]\nname = "x"\nmemory = "{"9" * 400}Gi"\n', "must be an amount of memory such as"),
        ('[[quotas]]\nid = "q"\ndraws = { default = "all" }\n', "draws.default = 'all': must be a number of GPUs"),
        ('[[quotas]]\nid = "q"\nparent = "lab"\nmin_runtime = 10\n', 'must be a duration such as "90s", "10m" or "1h30m"'),
        ('[[quotas]]\nid = "q"\nparent = "lab"\nmin_runtime = "-5m"\n', "min_runtime = '-5m': must not be negative"),
        ('[[quotas]]\nid = "q"\nparent = "lab"\nlending = "no"\n', "lending = 'no': must be true or false"),
        (JOB + "gpus = true\n", "[[running]] j: gpus = True: must be a number of GPUs"),
        (JOB + 'gpus = 1\nmodule = "RL"\n', "module = 'RL': must be one of DLC, DSW, EAS"),
        (JOB + 'gpus = 1\nidle = "maybe"\n', "idle = 'maybe': must be one of never, allow, only"),
        (JOB + 'gpus = 1\nstarted = "yesterday"\n', "must be a time such as"),
        (JOB + 'gpus = 1\nstarted = "5m"\n', "started = 'after 0s': must not be after the start"),
        (JOB + 'gpus = 1\nstarted = "-1h"\nduration = "30m"\n', "a running job must end after the start"),
        (JOB + 'gpus = 2\nplace = ["n0:0"]\n', "a replica with 2 GPU stands on 2 of the devices 0-7 of its node"),
        (JOB + 'gpus = 1\nplace = ["n9:0"]\n', "place = 'n9:0': there is no node n9; allowed: n0"),
        (JOB + 'gpus = 1\nplace = ["n0:8"]\n', "place = 'n0:8': a replica with 1 GPU"),
        (JOB + 'gpus = 1\nplace = ["n0:0", "n0:1"]\n', "must name 1 places, one for each running replica"),
        (JOB + "gpus = 1\nprio = 3\n", "[[running]] j: prio is not a field here; did you mean priority?"),
        (JOB + "gpus = 1\n" + JOB + "gpus = 1\n", "job j is declared twice"),
        ("[[at]]\ntime = \"5m\"\n", "[[at]]: needs exactly one of submit, cancel, stop"),
        ('[[at]]\ntime = "-5m"\nend = "j"\n', "time = '-5m': must not be before the start, 0s"),
        ('[[at]]\ntime = "5m"\nend = "j"\n', "[[at]] 5m, end: no job of this file is called 'j'"),
        ('[[at]]\ntime = "5m"\nnode = { name = "n0" }\n', "[[at]] 5m, node, node: state is missing"),
        ('[[at]]\ntime = "5m"\nscale = { quota = "lab", gpus = 8, mode = "hard" }\n', "must be one of refuse, lazy, reclaim"),
        ('[[expect]]\ntime = "5m"\n', "[[expect]] 5m: expects nothing; allowed: start, grow"),
        ('[[expect]]\ntime = "5m"\nstarts = ["j"]\n', "starts is not a field here; did you mean start?"),
        ('[[expect]]\ntime = "5m"\nstart = ["j"]\n', "[[expect]] 5m, start: no job of this file is called 'j'"),
        ('[[expect]]\ntime = "5m"\nquota.lab = { use = 3 }\n', "use is not a figure of a quota; allowed: min, actual"),
        ('[[waiting]]\nid = "w"\nquota = "lab"\ngpus = 1\n[[expect]]\ntime = "5m"\nwhy = { w = "Tired" }\n', "Tired is not a reason code"),
        ("[[forbid]]\n", "[[forbid]]: forbids nothing; allowed: start, grow"),
        ("[settings]\naging_intervall = \"10m\"\n", "world.toml, settings: aging_intervall is not a field here; did you mean aging_interval?"),
        ("[[pool]]\nname = \"x\"\n", "world.toml: pool is not a field here; did you mean pools?"),
        ("nodes = = 3\n", "world.toml: is not valid TOML: "),
    ],
)  # fmt: skip
def test_bad_input_is_named(more: str, message: str):
    assert message in complaint(BASE + more)


@pytest.mark.parametrize(
    ("more", "rule", "message"),
    [
        ('[[quotas]]\nid = "q"\nparent = "lab"\ngpus = 9\n', "Q1", "world.toml: [[quotas]] q: min.gpu"),
        ('[[quotas]]\nid = "q"\nparent = "nobody"\ngpus = 1\n', "Q1", "nobody"),
        ('[[quotas]]\nid = "q"\nparent = "lab"\nstrategy = "random"\n', "S7", "allowed: fifo, traverse, balance"),
        ('[[quotas]]\nid = "q"\nparent = "lab"\nself_level = { high = "4-6", low = 6, modules = ["DLC"] }\n', "P1", "4-6"),
        ('[[quotas]]\nid = "q"\nparent = "lab"\nchild_level = { priorities = "0-3", modules = ["DLC"] }\n', "P1", "1..9"),
        ('[[quotas]]\nid = "q"\nparent = "lab"\nchild_level = { priorities = "1-3", modules = ["RL"] }\n', "P1", "RL"),
        (JOB + "gpus = 1\npriority = 10\n", "J2", "priority = 10: must be 1..9"),
        (JOB + "gpus = 1.5\n", "R1", "whole GPUs, or a fraction of one"),
        (JOB + "gpus = 1\nreplicas = 2\nmin_replicas = 3\n", "P12", "min_replicas = 3: must be 1..2"),
        ('[[running]]\nid = "j"\nquota = "nobody"\ngpus = 1\n', "", "nobody"),
        ('[[waiting]]\nid = "j"\nquota = "lab"\ngpus = 9\n', "S11", "[[waiting]] j: "),
    ],
)  # fmt: skip
def test_what_a_rule_forbids_is_refused_with_the_rule(more: str, rule: str, message: str):
    with pytest.raises(RuleBroken) as caught:
        Player(read_scenario(BASE + more, "world.toml"))
    assert message in str(caught.value)
    if rule:
        assert f"[{rule}]" in str(caught.value)


def test_a_step_after_the_end_is_refused():
    text = 'until = "1m"\n' + BASE + '[[at]]\ntime = "2m"\ndelete_quota = "lab"\n'
    assert "[[at]] 2m, delete_quota: lies after `until`, 1m: it would never happen" in complaint(text)


def test_a_title_is_needed():
    assert complaint("") == "world.toml: title is missing"


def test_a_missing_file_is_named(tmp_path: Path):
    with pytest.raises(ScenarioError, match=r"gone\.toml: cannot be read: No such file"):
        load_scenario(tmp_path / "gone.toml")


def test_a_file_that_is_not_text_is_named(tmp_path: Path):
    path = tmp_path / "noise.toml"
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ScenarioError, match="not UTF-8"):
        load_scenario(path)
