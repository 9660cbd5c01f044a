"""An expectation that cannot fail tests nothing: every word of the vocabulary is shown to pass and to fail."""

from typing import get_args

import pytest

from quotatree.core import State, plan
from quotatree.core.decisions import Decision, Evict, Plan, Start
from quotatree.scenario import run
from quotatree.scenario.check import check_scenario
from quotatree.scenario.expect import WORDS
from quotatree.scenario.kinds import KINDS, PLAIN
from quotatree.scenario.load import read_scenario

# Two nodes, full. At 1m an urgent job takes `low`; at 1m30s it starts; `late` waits all the time.
WORLD = """
title = "a world to look at"
steady = true

[[nodes]]
name_prefix = "n"
count = 2

[[quotas]]
id = "top"
gpus = 16

[[quotas]]
id = "lab"
parent = "top"
gpus = 16
self_level = { high = "6-9", low = 4, modules = ["DLC"] }

[[running]]
id = "low"
quota = "lab"
priority = 4
gpus = 8
started = "-1h"
checkpoint = "-4m"
place = ["n0:0-7"]

[[running]]
id = "firm"
quota = "lab"
priority = 5
gpus = 8
started = "-1h"
place = ["n1:0-7"]

[[waiting]]
id = "late"
quota = "lab"
priority = 2
gpus = 8

[[preview]]
id = "would-be"
quota = "lab"
priority = 8
gpus = 8

[[at]]
time = "1m"
submit = { id = "urgent", quota = "lab", priority = 7, gpus = 8 }
"""

# word: (time, what is true, what is not)
CASES = {
    "start": ("1m30s", '["urgent"]', "[]"),
    "grow": ("1m", "[]", '["low"]'),
    "hold": ("1m", '["urgent"]', '["late"]'),
    "evict": ("1m", '["low"]', '["low", "firm"]'),
    "shrink": ("1m", "[]", '["low"]'),
    "move": ("1m", "[]", '["low"]'),
    "demote": ("1m", "[]", '["low"]'),
    "promote": ("1m", "[]", '["low"]'),
    "release": ("1m", "[]", '["urgent"]'),
    "stop": ("1m", "[]", '["low"]'),
    "fail": ("1m", "[]", '["low"]'),
    "alarm": ("1m", "[]", '["low"]'),
    "quiet": ("1m", "false", "true"),
    "reason": ("1m", '{ low = "SelfLevelOwn" }', '{ low = "ChildLevel" }'),
    "step": ("1m", '{ urgent = "own" }', '{ urgent = "loan" }'),
    "cost": ("1m", "{ urgent = 21760 }", "{ urgent = 21760.5 }"),
    "cost_without_ladder": ("1m", "{ urgent = 21760 }", "{ urgent = 1 }"),
    "lost": ("1m", "{ low = 2720 }", "{ firm = 2720 }"),
    "running": ("1m30s", '["urgent", "firm"]', '["urgent", "low"]'),
    "not_running": ("1m30s", '["low", "late"]', '["low", "firm"]'),
    "waiting": ("1m30s", '["l*"]', '["urgent"]'),
    "held": ("1m", '["urgent"]', '["late"]'),
    "phase": ("1m", '{ low = "Waiting" }', '{ low = "Stopped" }'),
    "claim": ("1m", '{ firm = "regular" }', '{ firm = "idle" }'),
    "replicas": ("1m", "{ firm = 1, low = 0 }", "{ firm = 2 }"),
    "preemptions": ("1m", "{ low = 1 }", "{ low = 0 }"),
    "on": ("1m", '{ firm = "n1", urgent = ["n0"] }', '{ firm = ["n0", "n1"] }'),
    "node_free": ("1m", "{ n0 = 0 }", "{ n0 = 8 }"),
    "quota": ("1m", "{ lab = { used = 16, queued_jobs = 2 } }", "{ lab = { used = 16, loan = 1 } }"),
    "queue": ("1m", '{ lab = ["low", "late"] }', '{ lab = ["late", "low"] }'),
    "why": ("1m", '{ late = "OwnQuotaFull" }', '{ late = ["OwnQuotaFull", "BehindHead"] }'),
    "holders": ("0s", '{ late = "lab" }', '{ late = ["lab", "top"] }'),
    "ahead": ("1m", '{ late = ["low"] }', "{ late = [] }"),
    "preempted_by": ("1m", '{ low = "urgent" }', '{ low = "firm" }'),
    "exposed": ("0s", '{ low = ["lab"], firm = [] }', '{ firm = ["lab"] }'),
    "preview": ("0s", '{ would-be = { evict = ["low"] } }', "{ would-be = { evict = [] } }"),
}


def faults(more: str) -> tuple[str, ...]:
    return check_scenario(read_scenario(WORLD + more, "world.toml")).faults


def expecting(time: str, word: str, value: str) -> str:
    return f'\n[[expect]]\ntime = "{time}"\n{word} = {value}\n'


def test_every_decision_of_the_core_has_a_kind():
    plain = set(get_args(Decision)) - {Start, Evict}
    assert plain == set(PLAIN)
    assert set(PLAIN.values()) <= set(KINDS)


def test_every_word_has_its_case():
    assert set(CASES) == set(WORDS)


@pytest.mark.parametrize("word", CASES)
def test_what_is_true_passes(word: str):
    time, true, _ = CASES[word]
    assert faults(expecting(time, word, true)) == ()


@pytest.mark.parametrize("word", CASES)
def test_what_is_not_true_fails_and_says_what_was_seen(word: str):
    time, _, untrue = CASES[word]
    found = faults(expecting(time, word, untrue))
    assert len(found) == 1
    assert f"{time}: {word}: " in found[0]
    assert "expected" in found[0]
    assert "seen" in found[0]


def test_an_expectation_after_the_end_fails():
    text = WORLD.replace("steady = true", 'until = "2m"') + expecting("3m", "quiet", "true")
    assert check_scenario(read_scenario(text, "w")).faults == ("3m: lies after the end of the scenario",)


@pytest.mark.parametrize("kind", KINDS)
def test_forbidding_what_does_not_happen_passes(kind: str):
    assert faults(f'\n[[forbid]]\n{kind} = "*"\nuntil = "0s"\n' if kind != "wait" else "") == ()


def test_a_forbidden_decision_fails():
    found = faults('\n[[forbid]]\nnote = "too dear"\nevict = ["low", "firm"]\n')
    assert len(found) == 1
    assert found[0].startswith("1m: forbidden (too dear): evict low: taken for urgent")


def test_a_forbidden_decision_outside_its_time_passes():
    assert faults('\n[[forbid]]\nevict = "low"\nfrom = "1m1s"\n') == ()
    assert faults('\n[[forbid]]\nevict = "low"\nuntil = "59s"\n') == ()


def test_a_step_that_is_refused_unexpectedly_fails():
    found = faults('\n[[at]]\ntime = "2m"\nscale = { quota = "lab", gpus = 32 }\n')
    assert len(found) == 1
    assert found[0].startswith("2m: scale lab (refuse): was refused: min.gpu")


def test_a_step_that_should_be_refused_and_is_not_fails():
    found = faults('\n[[at]]\ntime = "2m"\ncancel = "late"\nrefused = "no"\n')
    assert found == ("2m: cancel late: expected to be refused; it was accepted",)


def test_a_refusal_with_other_words_fails():
    found = faults('\n[[at]]\ntime = "2m"\nscale = { quota = "lab", gpus = 32 }\nrefused = "too cold"\n')
    assert len(found) == 1
    assert "expected a refusal with 'too cold'; it says" in found[0]


def test_a_tree_that_should_be_refused_and_is_not_fails():
    text = WORLD + '\n[load]\nrefused = "anything"\n'
    assert check_scenario(read_scenario(text, "w")).faults == (
        "load: expected to be refused; it was accepted",
    )


def test_a_world_whose_plans_leave_something_undone_is_not_steady(monkeypatch: pytest.MonkeyPatch):
    """Plans of the live state decide nothing, as if they remembered failures too long (A8); afresh there is something to do."""
    seen: dict[int, int] = {}

    def forgetful(state: State, now_ms: int) -> Plan:
        number = seen.setdefault(id(state), len(seen))
        return Plan(now_ms, (), None) if number == 0 and now_ms else plan(state, now_ms)

    monkeypatch.setattr(run, "plan", forgetful)
    found = faults("")
    assert found[0].startswith("1m: planning again decided evict low")
    assert "not steady at the end" in found[-1]


def test_a_plan_that_decides_only_the_second_time_is_not_steady(monkeypatch: pytest.MonkeyPatch):
    calls: list[int] = []

    def slow(state: State, now_ms: int) -> Plan:
        calls.append(now_ms)
        return Plan(now_ms, (), None) if calls.count(now_ms) == 1 and now_ms else plan(state, now_ms)

    monkeypatch.setattr(run, "plan", slow)
    assert any("planning again decided" in fault for fault in faults(""))
