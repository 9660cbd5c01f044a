"""Whose turn it is, found along one path, is what comparing all candidates would find (S6, A4)."""

from __future__ import annotations

from random import Random

from quotatree.core.model.quota import Quota, QuotaId
from quotatree.core.model.quota_arithmetic import own_share_key, share_key
from quotatree.core.planning.contest import Candidate, Contest, First
from quotatree.core.state import State
from tests.core.building import child, cluster, root, submit

CHANGES = 400


def test_the_winner_is_the_one_that_a_look_at_everybody_would_find() -> None:
    random = Random(11)
    state = a_tree_of_three_levels()
    quotas = list(state.quotas.values())
    contest = Contest()
    firsts: dict[Quota, First] = {}
    for number in range(CHANGES):
        quota = quotas[random.randrange(len(quotas))]
        for above in quota.path:  # its share changes, and with it those above
            above.used[0] = random.randrange(4) * 1000
        quota.own_used[0] = random.randrange(4) * 1000
        firsts.pop(quota, None)
        if random.random() < 0.8:
            firsts[quota] = a_first(state, random, quota, number)
        contest.put(quota, firsts.get(quota))
        assert contest.winner() == by_looking_at_everybody(list(firsts.values()))


def a_tree_of_three_levels() -> State:
    teams = [child(f"t{number}", 8) for number in range(6)]
    groups = [child(f"t{number}.{part}", 2, parent=f"t{number}") for number in range(4) for part in "xyz"]
    return cluster(8, root(64), *teams, *groups, nodes=8)


def a_first(state: State, random: Random, quota: Quota, number: int) -> First:
    job = submit(state, f"j{number}", quota.id, (1, 1000), now_ms=random.randrange(3))
    return random.randrange(5, 8), Candidate(quota, quota.queue.of_job[job.id], job)


def by_looking_at_everybody(firsts: list[First]) -> Candidate | None:
    if not firsts:
        return None
    top = max(priority for priority, _ in firsts)
    return fairest([candidate for priority, candidate in firsts if priority == top], 1)


def fairest(candidates: list[Candidate], level: int) -> Candidate:
    """Return the candidate of the branch that uses least of its min where paths part; `level` counts from the root, 1."""
    if len(candidates) == 1:
        return candidates[0]
    branches: dict[str, list[Candidate]] = {}
    for candidate in candidates:
        path = candidate.quota.path
        branches.setdefault(path[-level].id if level <= len(path) else "", []).append(candidate)
    if len(branches) == 1:
        return fairest(candidates, level + 1)
    ranked = []
    for branch, members in branches.items():
        quota, best = members[0].quota, fairest(members, level + 1)
        share = share_key(quota.path[-level]) if branch else own_share_key(quota)
        ranked.append((share, best.job.spec.submitted_ms, best.job.id, best))
    return min(ranked, key=lambda entry: entry[:3])[3]


def test_a_quota_without_candidates_still_moves_the_share_of_the_one_above() -> None:
    state = a_tree_of_three_levels()
    one, beside, other = (state.quotas[QuotaId(name)] for name in ("t0.x", "t0.y", "t1.x"))
    other.path[1].used[0] = 2000
    contest = Contest()
    for number, quota in enumerate((one, other)):
        _, candidate = a_first(state, Random(1), quota, number)
        contest.put(quota, (6, candidate))
    for used, winner in ((5000, other), (0, one)):
        beside.path[1].used[0] = used
        contest.put(beside, None)
        found = contest.winner()
        assert found is not None
        assert found.quota is winner
