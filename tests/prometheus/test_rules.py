"""Does each alert fire when it should, and only then? promtool's own judgement of the rules, and of their tests over time."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.prometheus.binary import PROMTOOL
from tests.prometheus.conftest import built

FOLDER = Path(__file__).resolve().parents[2] / "deploy" / "prometheus"
RULES = "quotatree-rules.yaml"
TESTS = "quotatree-rules-test.yaml"


def promtool(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [str(built(PROMTOOL)), *arguments]
    return subprocess.run(command, cwd=FOLDER, capture_output=True, text=True, check=False)


def read(name: str) -> Any:
    return yaml.safe_load((FOLDER / name).read_text(encoding="utf-8"))


def rules() -> list[Any]:
    return [rule for group in read(RULES)["groups"] for rule in group["rules"]]


def test_promtool_accepts_the_rules():
    done = promtool("check", "rules", "--lint=all", "--lint-fatal", RULES)
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"{len(rules())} rules found" in done.stdout


def test_alerts_fire_when_their_trouble_has_lasted_and_not_before():
    done = promtool("test", "rules", TESTS)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("alert", [rule["alert"] for rule in rules()])
def test_every_alert_is_seen_firing_and_silent(alert: str):
    looks = [look for test in read(TESTS)["tests"] for look in test["alert_rule_test"]]
    seen = [bool(look.get("exp_alerts")) for look in looks if look["alertname"] == alert]
    assert set(seen) == {True, False}


def test_every_alert_that_waits_is_seen_silent_after_its_trouble_began(tmp_path: Path):
    """Without its `for` it would fire too early in the tests over time, and they would say so."""
    hasty = read(RULES)
    patient = {rule["alert"] for rule in rules() if "for" in rule}
    for group in hasty["groups"]:
        for rule in group["rules"]:
            rule.pop("for", None)
    (tmp_path / RULES).write_text(yaml.safe_dump(hasty), encoding="utf-8")
    (tmp_path / TESTS).write_text((FOLDER / TESTS).read_text(encoding="utf-8"), encoding="utf-8")
    done = promtool("test", "rules", str(tmp_path / TESTS))
    assert set(re.findall(r"alertname: (\w+)", done.stdout + done.stderr)) == patient
