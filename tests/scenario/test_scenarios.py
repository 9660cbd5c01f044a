"""Every story in scenarios/ and every example in the package goes as it says."""

import json
import re
from pathlib import Path

import pytest

from quotatree import rulebook
from quotatree.scenario.check import check_scenario
from quotatree.scenario.load import EXAMPLES, load_scenario
from quotatree.scenario.render import plan_json
from quotatree.scenario.run import Player

ROOT = Path(__file__).resolve().parents[2]
STORIES = sorted((ROOT / "scenarios").glob("*.toml"))
EXAMPLE_FILES = sorted(EXAMPLES.glob("*.toml"))
RULES = rulebook.load()
ALL = [pytest.param(path, id=path.stem) for path in [*STORIES, *EXAMPLE_FILES]]


@pytest.mark.parametrize("path", ALL)
def test_the_story_goes_as_it_says(path: Path):
    verdict = check_scenario(load_scenario(path))
    assert verdict.faults == ()
    assert verdict.checks > 0


@pytest.mark.parametrize("path", ALL)
def test_the_story_is_told_and_ends_steady(path: Path):
    scenario = load_scenario(path)
    assert scenario.story, "a scenario is a story: say what happens and why"
    assert scenario.rules, "name the rules it shows"
    assert scenario.steady or scenario.load_refused, "every story ends steady (29)"


@pytest.mark.parametrize("path", ALL)
def test_the_rules_it_names_are_rules(path: Path):
    for rule in load_scenario(path).rules:
        assert rule in RULES


@pytest.mark.parametrize("path", ALL)
def test_playing_twice_decides_the_same(path: Path):
    scenario = load_scenario(path)
    if scenario.load_refused:
        pytest.skip("its tree is refused")

    def play() -> str:
        player = Player(load_scenario(path))
        return json.dumps(plan_json(scenario, player.instants()))

    assert play() == play()


def test_every_number_of_the_list_has_its_story():
    numbers = {int(path.name[:2]) for path in STORIES}
    assert set(range(1, 30)) <= numbers


def test_the_names_say_the_order():
    assert all(re.fullmatch(r"\d\d[a-z]?-[a-z0-9-]+\.toml", path.name) for path in STORIES)
