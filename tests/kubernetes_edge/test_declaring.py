"""Resources are applied like files, together and in an order that works, and each gets its answer (E6)."""

from __future__ import annotations

from quotatree.control.commands import values as do
from quotatree.control.commands.ownership import owner_of
from quotatree.core import Bounds, QuotaId, QuotaSpec
from quotatree.kubernetes_edge.declaring import Declaring, Refusal
from tests.kubernetes_edge.conftest import Loop
from tests.kubernetes_edge.declared import quota, root, workspace


def sizes(loop: Loop) -> dict[str, int | None]:
    return loop.ask(lambda world: {q.id: q.min[0] for q in world.state.quotas.values()})


def why(answer: Refusal | None) -> Refusal:
    assert answer is not None
    return answer


def test_a_tree_and_its_teams_are_made_in_one_go_whatever_order_they_come_in(loop: Loop):
    answers = Declaring(loop.controller).apply(
        [
            workspace("vision", members=[{"user": "ann", "roles": ["owner"]}], quotas=[{"name": "a1"}]),
            quota("a1", parent="a", min={"gpus": 2}),
            quota("a", parent="company", min={"gpus": 8}, selfLevel=[{"high": "6-9", "low": "1-5"}]),
            root(),
        ]
    )
    assert set(answers.values()) == {None}
    assert sizes(loop) == {"company": 16000, "a": 8000, "a1": 2000}
    assert loop.ask(lambda world: world.directory.workspaces["vision"].quotas) == ("a1",)


def test_applying_twice_changes_nothing(loop: Loop):
    resources = [
        root(),
        quota("a", parent="company", min={"gpus": 8}, minRuntime="90s", labels={"cost": "7"}),
    ]
    declaring = Declaring(loop.controller)
    declaring.apply(resources)
    before = loop.ask(lambda world: dict(world.versions))
    assert declaring.apply(resources) == {"quota/company": None, "quota/a": None}
    assert loop.ask(lambda world: dict(world.versions)) == before


def test_what_shrinks_goes_before_what_grows(loop: Loop):
    declaring = Declaring(loop.controller)
    declaring.apply([root(), *(quota(name, parent="company", min={"gpus": 8}) for name in "ab")])
    answers = declaring.apply(
        [quota("a", parent="company", min={"gpus": 12}), quota("b", parent="company", min={"gpus": 4})]
    )
    assert set(answers.values()) == {None}
    assert sizes(loop) == {"company": 16000, "a": 12000, "b": 4000}


def test_a_refused_resource_names_its_rule_and_the_others_go_on(loop: Loop):
    answers = Declaring(loop.controller).apply(
        [
            root(),
            quota("a", parent="company", min={"gpus": 99}),
            quota("b", parent="company", min={"gpus": 4}, selfLevel=[{"high": "boss", "low": 1}]),
            quota("c", parent="company", min={"gpus": 4}),
        ]
    )
    assert [answers["quota/company"], answers["quota/c"]] == [None, None]
    assert why(answers["quota/a"])[:2] == ("Refused", "Q1")
    assert "boss" in why(answers["quota/b"]).text
    assert sizes(loop) == {"company": 16000, "c": 4000}


def test_a_quota_of_a_tree_of_the_api_is_refused_even_if_it_is_as_declared(loop: Loop):
    loop.do(
        do.CreateQuota(
            actor="root", spec=QuotaSpec(QuotaId("company"), None, draws=(("default", Bounds(16000)),))
        )
    )
    answers = Declaring(loop.controller).apply([root()])
    assert why(answers["quota/company"]).rule == "E6"
    assert loop.ask(lambda world: owner_of(world.quota("company"))) == ""


def test_a_root_takes_over_a_tree_of_the_api_if_it_says_so(loop: Loop):
    loop.do(
        do.CreateQuota(
            actor="root", spec=QuotaSpec(QuotaId("company"), None, draws=(("default", Bounds(16000)),))
        )
    )
    loop.do(do.CreateQuota(actor="root", spec=QuotaSpec(QuotaId("a"), QuotaId("company"), Bounds(8000))))
    adopting = root(meta={"annotations": {"quotatree.io/adopt": "true"}})
    answers = Declaring(loop.controller).apply([adopting, quota("a", parent="company", min={"gpus": 8})])
    assert set(answers.values()) == {None}
    assert loop.ask(lambda world: owner_of(world.quota("a"))) == "quotas.quotatree.io/a"


def test_a_deleted_resource_deletes_its_quota_and_is_told_what_is_in_the_way(loop: Loop):
    declaring = Declaring(loop.controller)
    company, a = root(), quota("a", parent="company", min={"gpus": 8})
    declaring.apply([company, a])
    assert why(declaring.remove(company)).rule == "Q6"
    assert declaring.remove(a) is None
    assert declaring.remove(a) is None  # again, after a crash
    assert declaring.remove(company) is None
    assert sizes(loop) == {}


def test_a_resource_that_never_owned_a_quota_leaves_it_alone(loop: Loop):
    loop.do(
        do.CreateQuota(
            actor="root", spec=QuotaSpec(QuotaId("company"), None, draws=(("default", Bounds(16000)),))
        )
    )
    assert Declaring(loop.controller).remove(root()) is None
    assert sizes(loop) == {"company": 16000}


def test_a_tree_is_given_to_the_api_when_its_resource_goes_and_says_keep(loop: Loop):
    declaring = Declaring(loop.controller)
    keeping = root(meta={"annotations": {"quotatree.io/on-delete": "keep"}})
    declaring.apply([keeping])
    assert declaring.remove(keeping) is None
    loop.do(do.ScaleQuota(actor="root", quota="company", draws=(("default", Bounds(8000)),)))
    assert sizes(loop) == {"company": 8000}


def test_a_quota_that_is_being_deleted_takes_nothing_new_and_keeps_what_it_has(loop: Loop):
    declaring = Declaring(loop.controller)
    early, late = (
        workspace("early", quotas=[{"name": "company"}]),
        workspace("late", quotas=[{"name": "company"}]),
    )
    declaring.apply([root(), early])
    answers = declaring.apply([early, late, quota("a", parent="company", min={"gpus": 1})], {"company"})
    assert answers["workspace/early"] is None
    for refused in ("workspace/late", "quota/a"):
        assert why(answers[refused])[1] == "Q6"
        assert "quota company is being deleted" in why(answers[refused]).text
    assert loop.ask(lambda world: sorted(world.directory.workspaces)) == ["early"]
