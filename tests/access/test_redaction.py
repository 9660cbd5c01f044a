"""W2, P13: in explanations, previews and the ledger, other teams' jobs have a priority, a size and a level, no names."""

from __future__ import annotations

import ast
import json
import string
from collections.abc import Iterable
from dataclasses import fields, is_dataclass, replace
from enum import Enum
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

import quotatree
from quotatree.access.directory import Directory
from quotatree.access.redaction import HIDDEN, JOB_FACTS, PLAIN_FACTS, QUOTA_FACTS, JobFacts, Reader, reader
from quotatree.access.roles import Role
from quotatree.access.values import User
from quotatree.core import decisions as say
from quotatree.core import events as ev
from quotatree.core.errors import Refused
from quotatree.core.explanation import PREVIEWABLE, explain, exposure, preview
from quotatree.core.model.job import JobId
from quotatree.core.model.quota import QuotaId
from quotatree.core.model.resources import Resources
from quotatree.core.model.unit import UnitKind
from quotatree.core.reasons import Code, Step, because
from quotatree.core.sentences import Sentence, a_job, a_quota, a_subject, a_user, a_workspace
from tests.access.teams import TREE, company
from tests.profiles import by_profile
from tests.property import happenings, worlds
from tests.property.walk import Walk

LIGHT = settings(
    max_examples=by_profile(quick=7, deep=25, long=1000),
    deadline=None,
    derandomize=True,
    database=None,
    phases=(Phase.explicit, Phase.generate),
    suppress_health_check=list(HealthCheck),
)
RANDOM = st.randoms(use_true_random=False, note_method_calls=False)
SOURCE = Path(quotatree.__file__).parent
TEAMS = ("team-one", "team-two", "team-three")
PERSON = {"team-one": "person-one", "team-two": "person-two", "team-three": "person-three"}


class Company:
    """A random cluster that has lived a while, shared by three teams bound to random quotas."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self.walk = Walk()
        for event in worlds.world(random):
            self.walk.happen(_distinctive(event))
        self.tree: dict[str, str | None] = {
            q.id: q.parent.id if q.parent is not None else None for q in self.walk.state.quotas.values()
        }
        self.team_of: dict[str, str] = {}
        self.said: list[say.Decision] = []
        self.directory = self._directory()
        for _ in range(7):
            self._live()

    def _directory(self) -> Directory:
        found = (
            Directory().with_user(User("person-boss", platform_admin=True)).with_user(User("person-quota"))
        )
        for team in TEAMS:
            found = found.with_user(User(PERSON[team])).with_workspace(team, owners=[PERSON[team]])
            found = found.bound(team, worlds.pick(self.random, *self.tree))
        return found.with_quota_admin("person-quota", worlds.pick(self.random, *self.tree))

    def _live(self) -> None:
        self.walk.wait(worlds.pick(self.random, 0, 1_000, 90_000, 700_000))
        for _ in range(self.random.randint(2, 5)):
            event = happenings.anything(self.random, self.walk.state, self.walk.now_ms)
            if event is not None:
                self.said += self.walk.happen(self._of_a_team(event))
        self.said += self.walk.plan(check=False).decisions

    def _of_a_team(self, event: ev.Event) -> ev.Event:
        """Jobs and limits belong to somebody."""
        if isinstance(event, ev.JobSubmitted | ev.JobAdopted):
            team = self.team_of.setdefault(event.job.id, worlds.pick(self.random, *TEAMS))
            subjects = (f"{team}/user:{PERSON[team]}",)
            return replace(event, job=replace(event.job, workspace=team, subjects=subjects))
        if isinstance(event, ev.LimitsSet):
            limits = [
                limit._replace(subject=f"{team}/user:{PERSON[team]}")
                for limit in event.limits
                for team in TEAMS
            ]
            return replace(event, limits=tuple(limits))
        return event

    def facts(self, job_id: str) -> JobFacts | None:
        job = self.walk.state.jobs.get(JobId(job_id))
        if job is None:
            return None
        gpu_milli = sum(g.replicas * g.shape.gpu_milli for g in job.spec.groups)
        return JobFacts(job.spec.workspace, job.quota.id, job.priority, gpu_milli)

    def reader(self, actor: str) -> Reader:
        return reader(self.directory, actor, self.tree, self.facts)

    def secrets(self, actor: str) -> set[str]:
        """Every name this actor may not learn, worked out without the code under test."""
        mine = {team for team in TEAMS if PERSON[team] == actor}
        jobs = {job for job, team in self.team_of.items() if team not in mine}
        reach = {quota for team in mine for quota in self.directory.workspace(team).quotas}
        for admin in self.directory.quota_admins:
            if admin.user == actor:
                reach |= {quota for quota in self.tree if admin.quota in self._up(quota)}
        named = {above for quota in reach for above in self._up(quota)}
        people = {PERSON[team] for team in TEAMS if team not in mine} | {"person-boss", "person-quota"}
        return jobs | (set(TEAMS) - mine) | (people - {actor}) | (set(self.tree) - named)

    def _up(self, quota: str) -> list[str]:
        found: list[str] = []
        above: str | None = quota
        while above is not None:
            found.append(above)
            above = self.tree[above]
        return found

    def explained(self, actor: str) -> Iterable[Any]:
        """Everything that can be asked about any job, even of those that `check` would not let him ask about."""
        eyes = self.reader(actor)
        for job in self.walk.state.jobs.values():
            yield eyes.explanation(explain(self.walk.state, job.id, self.walk.now_ms))
            if job.told is not None:
                yield eyes.reason(job.told)
            if job.core is not None:
                yield [eyes.exposure(e) for e in exposure(self.walk.state, job.id, self.walk.now_ms)]

    def previewed(self, actor: str) -> Iterable[Any]:
        eyes = self.reader(actor)
        for _ in range(6):
            event = happenings.anything(self.random, self.walk.state, self.walk.now_ms)
            if isinstance(event, PREVIEWABLE):
                event = self._of_a_team(event)
                if isinstance(
                    event, ev.JobSubmitted
                ):  # it exists only while it is previewed: it is the reader's own
                    self.team_of.pop(event.job.id)
                try:
                    found = preview(self.walk.state, [event], self.walk.now_ms)
                except Refused as refused:
                    yield eyes.refusal(refused).message
                    continue
                yield [eyes.decision(d) for d in found if eyes.concerns(d) or isinstance(d, say.Evict)]


def _distinctive(event: ev.Event) -> ev.Event:
    """Names of quotas that stand in no other text by chance."""
    if not isinstance(event, ev.QuotaCreated):
        return event
    spec = event.quota
    parent = QuotaId(f"quota-{spec.parent}") if spec.parent is not None else None
    return ev.QuotaCreated(replace(spec, id=QuotaId(f"quota-{spec.id}"), parent=parent))


def as_json(value: Any) -> str:
    return json.dumps(_plain(value), ensure_ascii=False)


def _plain(value: Any) -> Any:
    if is_dataclass(value) and not isinstance(value, type):
        return {f.name: _plain(getattr(value, f.name)) for f in fields(value)}
    if isinstance(value, Enum):
        return value.name
    if isinstance(value, tuple | list | frozenset):
        return [_plain(one) for one in value]
    return value


def names_in(text: str) -> set[str]:
    """All words, so that quota-r.0 is not found in quota-r.0.1."""
    return {word.strip(".") for word in "".join(c if c in _WORD else " " for c in text).split()}


_WORD = set(string.ascii_letters + string.digits + "-.")


@pytest.mark.parametrize("actor", ["person-one", "person-quota"])
@LIGHT
@given(random=RANDOM)
def test_no_name_of_an_invisible_job_workspace_user_or_quota_is_read(actor: str, random: Random):
    world = Company(random)
    eyes = world.reader(actor)
    shown = [eyes.decision(decision) for decision in world.said]
    assert names_in(as_json(shown)) & world.secrets(actor) == set()
    for told in (*world.explained(actor), *world.previewed(actor)):
        assert names_in(as_json(told)) & world.secrets(actor) == set(), told


@LIGHT
@given(random=RANDOM)
def test_what_is_the_readers_own_stays_as_it_was_said(random: Random):
    world = Company(random)
    eyes = world.reader("person-one")
    for decision in world.said:
        shown = eyes.decision(decision)
        assert (shown.job == decision.job) is (world.team_of[decision.job] == "team-one")
        assert shown.reason.code is decision.reason.code
    boss = world.reader("person-boss")
    assert [boss.decision(d) for d in world.said] == world.said
    for job in world.walk.state.jobs.values():
        told = explain(world.walk.state, job.id, world.walk.now_ms)
        assert boss.explanation(told) == told


def test_the_walks_really_mention_what_must_be_hidden():
    """Guards the promise above: before they are hidden, others' jobs, quotas and members are named in these worlds."""
    mentioned: set[str] = set()
    for seed in range(100):
        world = Company(Random(seed))
        told = [explain(world.walk.state, job, world.walk.now_ms) for job in world.walk.state.jobs]
        mentioned |= names_in(as_json([*world.said, *told])) & world.secrets("person-one")
    assert {word.split("-")[0][:1] for word in mentioned} >= {"j", "q", "p", "t"}


def test_every_fact_of_every_reason_is_known():
    """A new fact is hidden until somebody says what it is."""
    used = {
        name for code in Code for _, name, _, _ in string.Formatter().parse(code.value) if name is not None
    }
    assert used == PLAIN_FACTS | JOB_FACTS | QUOTA_FACTS | {"subject", "workspace", "node", "pool"}


# -- by example ----------------------------------------------------------------------------------------------------

JOBS = {
    "dlc-vision": JobFacts("vision", "lab.vision", 3, 2000),
    "dlc-speech": JobFacts("speech", "lab.speech", 7, 8500),
}


def eyes_of(actor: str, directory: Directory | None = None) -> Reader:
    return reader(directory or company(), actor, TREE, JOBS.get)


def test_another_teams_preemptor_is_a_priority_a_size_and_a_level():
    why = because(Code.SelfLevelSibling, preemptor="dlc-speech", quota="lab.speech")
    evicted = say.Evict(
        JobId("dlc-vision"), 4, UnitKind.CORE, (0, 1), JobId("dlc-speech"), 5, 6, 30_000, True, True, why
    )
    shown = eyes_of("dina").decision(evicted)
    assert shown.preemptor == "[job of priority 7, 8.5 GPU, level 3]"
    assert shown.reason.text == (
        "taken for [job of priority 7, 8.5 GPU, level 3] by the self-level policy of [quota at level 3] (sibling quota)"
    )
    assert (shown.job, shown.run, shown.replicas) == ("dlc-vision", 4, (0, 1))
    theirs = eyes_of("otis").decision(evicted)
    assert (theirs.job, theirs.run, theirs.replicas) == ("[job of priority 3, 2 GPU, level 3]", 0, ())
    assert theirs.preemptor == "dlc-speech"
    assert eyes_of("ruth").decision(evicted) == evicted
    assert [eyes_of(who).concerns(evicted) for who in ("dina", "otis", "nick")] == [True, True, False]


def test_the_ledger_shows_what_was_paid_and_not_who_paid():
    victim = say.VictimCost(
        JobId("dlc-long-gone"), UnitKind.CORE, (0,), "lab.speech", 2, 10, 20, Resources(4000)
    )
    tried = (say.StepTried(Step.FREE, because(Code.AncestorFull, quota="lab", free=0, min=8, wanted=4)),)
    entry = say.Preemption(
        JobId("dlc-vision"),
        Step.SIBLINGS,
        (victim,),
        (JobId("dlc-speech"),),
        20,
        20,
        2,
        tried,
        (JobId("dlc-speech"),),
    )
    shown = eyes_of("dina").preemption(entry)
    assert shown.victims[0] == victim._replace(
        job=JobId("[job of priority 2, 4 GPU, level 3]"), quota="[quota at level 3]", replicas=()
    )
    assert shown.demoted == shown.kept == ("[job of priority 7, 8.5 GPU, level 3]",)
    assert shown.tried == tried  # lab is above the reader's own quota: it explains the wait
    assert shown.cost == 20


def test_a_quota_admin_reads_the_quotas_of_his_subtree_and_no_jobs():
    shown = eyes_of("quentin")
    assert [shown.quota(q) for q in ("lab.speech", "lab", "root", "ops", "deleted")] == [
        "lab.speech",
        "lab",
        "root",
        "[quota at level 2]",
        "[quota]",
    ]
    assert not shown.sees("dlc-vision")


def test_subjects_and_nodes_are_read_by_their_own_team_only():
    limit = because(
        Code.OverAmountLimit, subject="vision/user:dina", priorities="1-9", limit=1, used=1, wanted=1
    )
    node = because(Code.NodeDrained, node="gpu-7")
    assert dict(eyes_of("vera").reason(limit).facts)["subject"] == "vision/user:dina"
    assert dict(eyes_of("otis").reason(limit).facts)["subject"] == HIDDEN
    assert eyes_of("otis").reason(node).text == "node gpu-7 is drained"
    assert eyes_of("otis").reason(node, of_visible=False).text == f"node {HIDDEN} is drained"


def test_the_names_of_a_sentence_are_hidden_and_its_other_words_stay():
    said = Sentence(
        a_job("dlc-speech"), " of ", a_user("otis"), " in ", a_quota("lab.speech"), ", not dlc-speech, waits for ",
        a_job("dlc-vision"), " (", a_subject("speech/user:otis"), ", ", a_workspace("speech"), ").",
    )  # fmt: skip
    assert eyes_of("dina").text(said) == (
        "[job of priority 7, 8.5 GPU, level 3] of [hidden] in [quota at level 3], not dlc-speech, waits for "
        "dlc-vision ([hidden], [hidden])."
    )
    assert eyes_of("ruth").text(said) == said
    refused = Refused("quota", "lab", "Q6", Sentence("has active jobs: ", map(a_job, JOBS)))
    assert eyes_of("dina").refusal(refused).message == (
        "has active jobs: dlc-vision, [job of priority 7, 8.5 GPU, level 3]"
    )


def test_an_event_of_a_quota_is_hidden_by_its_keys():
    body = {"quota": "lab.vision", "source": "lab.speech", "mode": "speech", "amount": [1000, None, None]}
    assert eyes_of("dina").event(body) == {**body, "source": "[quota at level 3]"}
    assert [eyes_of("dina").event({"by": who})["by"] for who in ("dina", "otis", "(server)")] == [
        "dina",
        HIDDEN,
        "(server)",
    ]
    assert eyes_of("ruth").event(body) == body


# -- ordinary words ------------------------------------------------------------------------------------------------

ORDINARY = (
    "a",
    "work",
    "job",
    "GPU",
    "GPU-s",
    "of",
    "is",
    "the",
    "jobs",
    "has",
    "level",
    "priority",
    "free",
    "ends",
    "in",
    "or",
)


def named_by_ordinary_words() -> Directory:
    """The company, and workspaces and users of others that are called like words of every sentence."""
    found = company()
    for word in ORDINARY:
        found = found.with_user(User(f"{word}-boss")).with_workspace(word, owners=[f"{word}-boss"])
        found = found.with_user(User(word))
    return found


@LIGHT
@given(random=RANDOM)
def test_no_word_of_a_sentence_changes_however_others_call_their_workspaces(random: Random):
    """What a reader is shown is, word by word, what stands there, but for the names that are hidden by their place."""
    world = Company(random)
    before = [as_json(told) for told in world.explained("person-one")]
    for word in ORDINARY:
        world.directory = world.directory.with_user(User(word)).with_workspace(word, owners=[word])
    assert [as_json(told) for told in world.explained("person-one")] == before


def test_a_company_of_ordinary_words_reads_every_reason_as_before():
    plain, odd = eyes_of("dina"), eyes_of("dina", named_by_ordinary_words())
    for code in Code:
        facts = {name: "x" for _, name, _, _ in string.Formatter().parse(code.value) if name is not None}
        reason = because(code, **facts)
        assert odd.reason(reason).text == plain.reason(reason).text
    refused = Refused(
        "gpus", "8 GPU", "S11", Sentence("can never fit: the min of ", a_quota("lab"), " is 4 GPU")
    )
    assert odd.refusal(refused).message == refused.message
    assert (
        odd.text("any regular job that lacks a place of work") == "any regular job that lacks a place of work"
    )


# -- no name is written by hand --------------------------------------------------------------------------------------

NAMES = {
    "id",
    "workspace",
    "quota",
    "user",
    "actor",
    "owner",
    "job",
    "source",
    "target",
    "victim",
    "preemptor",
}
"""What holds a name, as a variable or as an attribute."""
SENTENCES = {"Refused", "Help", "Exposure", "Change"}
"""Whoever is made of a text that readers see."""


def test_texts_that_readers_see_name_things_only_by_a_sentence():
    """In `f"... {job.id} ..."` a name is a word like others, and nobody can hide it."""
    found = []
    for package in ("core", "control", "access"):
        for path in (SOURCE / package).rglob("*.py"):
            for call in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if (
                    isinstance(call, ast.Call)
                    and isinstance(call.func, ast.Name)
                    and call.func.id in SENTENCES
                ):
                    texts = [one for one in call.args if isinstance(one, ast.JoinedStr)]
                    found += [f"{path.name}:{text.lineno}" for text in texts if names_in_text(text)]
    assert found == []


def test_such_a_text_would_be_noticed():
    bad = ast.parse('Refused("a", 1, "Q1", f"{job.id} is {job.phase.value}")', mode="eval").body
    good = ast.parse('Refused("a", 1, "Q1", f"is {job.phase.value}, {len(jobs)}")', mode="eval").body
    assert isinstance(bad, ast.Call)
    assert isinstance(good, ast.Call)
    assert [names_in_text(call.args[-1]) for call in (bad, good)] == [True, False]


def names_in_text(text: ast.expr) -> bool:
    """Whether an f-string shows something that holds a name."""
    shown = [part.value for part in ast.walk(text) if isinstance(part, ast.FormattedValue)]
    last = [
        one.attr if isinstance(one, ast.Attribute) else one.id
        for one in shown
        if isinstance(one, ast.Attribute | ast.Name)
    ]
    return bool(NAMES.intersection(last))


def test_new_members_see_and_former_members_do_not():
    people = company().member_added("speech", "dina", Role.VIEWER)
    assert eyes_of("dina", people).job("dlc-speech") == "dlc-speech"
    assert eyes_of("dina", people.member_removed("speech", "dina")).job("dlc-speech") != "dlc-speech"


def test_who_keeps_running_is_a_job_and_hidden_as_one():
    """W2: `kept` is an amount in other reasons; here it is the job that would have moved (P8)."""
    why = because(Code.TakesItsPlace, kept="dlc-speech")
    label = "[job of priority 7, 8.5 GPU, level 3]"
    assert eyes_of("dina").reason(why) == because(Code.TakesItsPlace, kept=label)
    assert eyes_of("otis").reason(why) == why
    in_turn = because(
        Code.TakenInTurn, preemptor="dlc-vision", stays="dlc-speech", rule="ChildLevel", quota="lab"
    )
    assert dict(eyes_of("dina").reason(in_turn).facts)["stays"] == label
