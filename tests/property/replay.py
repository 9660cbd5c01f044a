"""Plays the decisions of a plan on the model, one after the other, and checks each where it is made."""

from __future__ import annotations

from itertools import combinations

from quotatree.core import decisions as say
from quotatree.core.model.job import Claim, Idle, Phase
from quotatree.core.reasons import Code, Step
from tests.property import fair_shares, rights
from tests.property.fitting import devices_fit, exceeded, pools_bind, quota_fits
from tests.property.model import Extra, JobView, Model, Piece, Place, placed, replicas_of, total

BRUTE_FORCE = 9
"""Up to this many eligible pieces, every subset is tried."""


TOGETHER = rights.ORDER.index(Step.SIBLINGS_ABOVE_MIN)
"""From this step on the highest priority touched decides before the step does (P4)."""


class Replay:
    """One plan being replayed. `model` moves from the state before the plan to the one after it."""

    def __init__(self, model: Model, plan: say.Plan, outage_ms: int) -> None:
        self.model, self.plan, self.now_ms, self.outage_ms = model, plan, plan.now_ms, outage_ms
        self.started: set[tuple[str, int]] = set()
        self.held: set[str] = set()
        self.promoted: set[str] = set()
        self.guarded_ran_idle = False
        self.preemptions = 0
        self.brute_forced = 0
        self.gang_ratios: list[tuple[int, int]] = []
        self._pending: list[say.Evict | say.Demote] = []
        self._fairly: list[say.Evict] = []  # what one borrower takes from others (I4)
        self.fair_takes = 0
        self._past_guard = False
        self._unseen_guards = {  # roots of which it is not known what their guard keeps now (S10)
            root for root, (_, kept) in model.guards.items() if any(not model.nodes[n].well for n in kept)
        }

    def run(self) -> None:
        for decision in self.plan.decisions:
            if isinstance(decision, say.Evict) and decision.reason.code is Code.FairShare:
                if self._fairly and self._fairly[0].preemptor != decision.preemptor:
                    self._fair_take()
                self._fairly.append(decision)
                continue
            self._fair_take()
            if isinstance(decision, say.Evict | say.Demote):
                assert decision.preemptor is not None, f"nobody needs {decision}"
                assert decision.job != decision.preemptor, decision
                self._pending.append(decision)
                continue
            job = self.model.jobs[decision.job]
            if isinstance(decision, say.Start | say.Hold) and decision.replicas:
                job.asks = tuple(place.replica for place in decision.replicas)
            elif isinstance(decision, say.Promote) and decision.reason.code is not Code.CoreGrows:
                job.asks = decision.replicas or tuple(job.core)
            if isinstance(decision, say.Start | say.Hold):
                self._its_turn(decision)
                # A job that could evict the guarded job when tried may use what is kept, also if its victims change that (S10).
                self._past_guard = rights.passes_guard(self.model, self.model.jobs[decision.job])
            if self._pending:
                self._preemption(decision)
            if isinstance(decision, say.Start):
                self._start(decision)
            elif isinstance(decision, say.Hold):
                self._hold(decision)
            elif isinstance(decision, say.Promote):
                self._promote(decision)
            elif isinstance(decision, say.Release):
                self._release(decision)
            elif isinstance(decision, say.Fail):
                self.model.jobs[decision.job].phase = Phase.FAILED
            job.asks = None
        self._fair_take()
        assert not self._pending, f"evictions that helped nobody (P7): {self._pending}"
        self._moved()

    # -- starts ----------------------------------------------------------------------------------------------

    def _start(self, start: say.Start) -> None:
        job = self.model.jobs[start.job]
        places = placed(job, start.replicas)
        assert start.replicas
        assert not set(places) & (set(job.core) | set(job.extras) | set(job.leaving)), "a replica runs twice"
        assert start.grows == bool(job.core)
        self._no_more_than_wanted(job, places, surplus=start.surplus)
        request = total(p.shape for p in places.values())
        from_hold = job.hold is not None
        if from_hold:
            assert not start.surplus
            assert set(places) == set(job.hold or ())
        elif start.claim is Claim.REGULAR:
            self._within_quota(job, request, may_lend=not start.surplus, what=start)
        if start.claim is Claim.IDLE:
            assert job.idle is not Idle.NEVER, "idle: never runs idle (I1)"
            self._within_idle_room(job, request)
        if not start.surplus and start.claim is Claim.REGULAR:
            assert job.idle is not Idle.ONLY, "idle: only became regular (I1)"
        if not start.surplus:
            job.hold = None
            if not job.core:
                job.started_ms, job.claim, job.checkpoint_ms = self.now_ms, start.claim, None
                job.core.update({r: places.pop(r) for r in range(job.wants_core)})
            job.phase = Phase.RUNNING
            self._guard_done(job)
        kind = "surplus" if start.surplus else "wanted"
        job.extras |= {r: Extra(place, self.now_ms, kind, start.claim) for r, place in places.items()}
        job.settle()
        self.started |= {(job.id, place.replica) for place in start.replicas}
        self._nothing_exceeded(f"after {start}")

    def _no_more_than_wanted(self, job: JobView, places: dict[int, Place], *, surplus: bool) -> None:
        """Check the number of replicas that start (P12): the core at least, no more than wanted; surplus only beyond that."""
        wanted, runs = replicas_of(job), job.running()
        if surplus:
            assert job.core, "surplus before the core (P12)"
            assert wanted <= runs, "surplus before all that is wanted (P12)"
            assert runs + len(places) <= job.spec.most_replicas, "more surplus than it can use (P12)"
            return
        assert job.core or set(places) == set(range(len(places))), "not its first replicas"
        assert job.core or len(places) >= job.wants_core, "not the whole core (P7)"
        assert runs + len(places) <= wanted, "more than is wanted (P12)"

    def _hold(self, hold: say.Hold) -> None:
        job = self.model.jobs[hold.job]
        if not hold.replicas:  # the starvation guard (S10): no places, no victims
            assert hold.reason.code is Code.StarvationGuard
            assert hold.preemption is None
            root = self.model.root(job.quota)
            assert root not in self.model.guards, "one such hold per tree (S10)"
            self.model.guards[root] = (job.id, frozenset())  # which nodes are kept is the next plan's to see
            self._unseen_guards.add(root)
            return
        places = placed(job, hold.replicas)
        assert job.hold is None
        self._no_more_than_wanted(job, places, surplus=False)
        self._within_quota(job, total(p.shape for p in places.values()), may_lend=True, what=hold)
        assert hold.waiting_on, "a hold that waits for nobody should be a start"
        assert all(self.model.jobs[j].leaving for j in hold.waiting_on), (
            "waits for somebody who is not leaving"
        )
        job.hold = places
        job.waiting_on, job.expires_ms = hold.waiting_on, hold.expires_ms or 0
        if job.phase is Phase.WAITING:
            job.phase = Phase.HELD
        self.held.add(job.id)
        self._guard_done(job)
        self._nothing_exceeded(f"after {hold}")

    def _guard_done(self, job: JobView) -> None:
        root = self.model.root(job.quota)
        if self.model.guards.get(root, ("",))[0] == job.id:
            del self.model.guards[root]
            self._unseen_guards.discard(root)
            self.guarded_ran_idle |= job.claim is Claim.IDLE

    def _within_quota(
        self, job: JobView, request: tuple[int, int, int], *, may_lend: bool, what: object
    ) -> None:
        model = self.model
        past = self._past_guard
        if quota_fits(model, job.quota, request, loan=False, past_guard=past):
            return
        assert may_lend, f"surplus beyond a min (P12): {what}"
        assert rights.may_borrow(model, job), f"beyond min without the right to a loan (P3): {what}"
        assert quota_fits(model, job.quota, request, loan=True, past_guard=past), (
            f"beyond an ancestor: {what}"
        )
        assert not self._surplus_on_loan(job, []), f"surplus stays where a loan is made (P12): {what}"

    def _surplus_on_loan(self, taker: JobView, gone: list[Piece]) -> bool:
        """Return whether surplus of the taker's quota or below would stand on its loan and could have left instead (P12)."""
        model = self.model
        request = total(shape for _, shape in model.missing(taker))
        used, bounds = model.used(gone)[taker.quota], model.quotas[taker.quota].min
        over = [i for i, m in enumerate(bounds) if m is not None and request[i] and used[i] + request[i] > m]
        stays = [
            p
            for p in model.pieces()
            if (p.kind, p.claim) == ("surplus", Claim.REGULAR)
            and taker.quota in model.path(model.jobs[p.job].quota)
            and p not in gone
            and any(p.size[i] for i in over)
        ]
        return any(
            rights.lawful_together(model, taker, [*gone, p], Step.IDLE, self.now_ms) is None for p in stays
        )

    def _within_idle_room(self, job: JobView, request: tuple[int, int, int]) -> None:
        """Check I2: idle work of a tree <= capacity - used(root) - unused min of the topmost non-lending quotas."""
        model, root = self.model, self.model.root(job.quota)
        used, idle = model.used(), model.sums(Claim.IDLE)
        for i, capacity in enumerate(model.quotas[root].min):
            if capacity is None or not request[i]:
                continue
            shut = [q for q in model.quotas if self._topmost_closed(q) and model.root(q) == root]
            kept_for_others = 0
            for quota in shut:
                bound = model.quotas[quota].min[i]
                if bound is not None and quota not in model.path(job.quota):
                    kept_for_others += max(0, bound - used[quota][i] - idle[quota][i])
            standing = used[root][i] + idle[root][i] + request[i]
            assert standing + kept_for_others <= capacity, f"{job.id} exceeds the idle room of {root} (I2)"
        limit = model.quotas[job.quota].spec.idle_limit_milli
        if limit is not None and request[0]:
            own = sum(
                p.size[0] for p in model.pieces()
                if p.claim is Claim.IDLE and model.jobs[p.job].quota == job.quota
            )  # fmt: skip
            assert own + request[0] <= limit, f"{job.id} exceeds the idle limit of {job.quota}"

    def _topmost_closed(self, quota: str) -> bool:
        above = self.model.path(quota)[1:]
        specs = self.model.quotas
        return not specs[quota].spec.lending and all(specs[q].spec.lending for q in above)

    def _its_turn(self, decision: say.Start | say.Hold) -> None:
        job = self.model.jobs[decision.job]
        idle_or_surplus = isinstance(decision, say.Start) and (
            decision.claim is Claim.IDLE or decision.surplus
        )
        if decision.replicas and not idle_or_surplus and job.hold is None:
            self._not_passing_a_head(job)

    def _not_passing_a_head(self, job: JobView) -> None:
        """Check that the job passes no head in its queue (S1, and S4 for priorities from 7 on)."""
        model = self.model
        if model.guards.get(model.root(job.quota), ("",))[0] == job.id:
            return  # what is kept for it is its hold (S10)
        strategy = model.quotas[job.quota].spec.strategy.value
        if strategy not in ("fifo", "intelligent") or job.phase is not Phase.WAITING or job.again:
            return  # a job whose hold expired is planned anew before any other (P9)
        for other in model.jobs.values():
            waits = other.phase is Phase.WAITING or (
                other.phase is Phase.RUNNING and other.claim is Claim.IDLE and other.idle is Idle.ALLOW
            )
            if other.quota != job.quota or other is job or not waits or rights.is_passed(model, other):
                continue
            if strategy == "intelligent" and other.priority < 7:
                continue
            ahead = self._queue_key(other) < self._queue_key(job)
            assert not ahead, f"{job.id} passes {other.id} in {job.quota} ({strategy})"

    def _queue_key(self, job: JobView) -> tuple[int, int, str]:
        return (-job.priority, job.spec.submitted_ms, job.id)

    def _promote(self, promote: say.Promote) -> None:
        model, job = self.model, self.model.jobs[promote.job]
        if promote.reason.code in (Code.Promoted, Code.OnLoan):
            assert job.idle is Idle.ALLOW, "idle: only is never regular (I1)"
            request = total(shape for _, shape in model.missing(job))
            past = rights.passes_guard(model, job)
            on_loan = promote.reason.code is Code.OnLoan
            assert not on_loan or rights.may_borrow(model, job), f"no right to a loan (P3): {promote}"
            assert quota_fits(model, job.quota, request, loan=on_loan, past_guard=past), (
                f"promoted beyond min {promote}"
            )
            assert (job.claim is Claim.IDLE) == (not promote.replicas), (
                "the core first, then each replica (I1)"
            )
            for replica in promote.replicas:
                assert job.extras[replica].claim is Claim.IDLE
                assert job.extras[replica].kind == "wanted", "surplus is not promoted (I1)"
                job.extras[replica] = job.extras[replica]._replace(claim=Claim.REGULAR)
            job.claim = Claim.REGULAR
            self.promoted.add(job.id)
            self._guard_done(job)
        job.settle()

    def _release(self, release: say.Release) -> None:
        job = self.model.jobs[release.job]
        if release.reason.code is Code.GuardEnded:
            assert rights.over_limit(self.model, job) or rights.can_never_fit(self.model, job)
            self._guard_done(job)
            return
        assert release.reason.code is Code.HoldExpired, release
        assert job.hold is not None
        assert job.waiting_on, "released though nobody was in its way"
        assert job.expires_ms <= self.now_ms, "released before it expired (P9)"
        job.hold = None
        if job.phase is Phase.HELD:
            job.phase, job.again = Phase.WAITING, True
        self._shrunk()

    # -- preemptions -----------------------------------------------------------------------------------------

    def _preemption(self, after: say.Decision) -> None:
        pending, self._pending = self._pending, []
        assert isinstance(after, say.Start | say.Hold | say.Promote), (
            f"evictions that helped nobody (P7): {pending} {after}"
        )
        ledger = after.preemption
        assert ledger is not None
        assert {p.preemptor for p in pending} == {after.job} == {ledger.preemptor}, "victims of somebody else"
        self.preemptions += 1
        taker = self.model.jobs[after.job]
        evicted = [self._piece(d) for d in pending]
        if isinstance(after, say.Promote):
            assert {(p.kind, p.claim) for p in evicted} == {("surplus", Claim.REGULAR)}, (
                "idle jobs never preempt (I1)"
            )
        demoted = [self._piece(d) for d in pending if isinstance(d, say.Demote)]
        self._waited_long_enough(taker, evicted)
        self._lawful(taker, evicted, rights.step_of(ledger))
        self._rises(taker, evicted)
        self._ledger(evicted, demoted, ledger, pending)
        if rights.step_of(ledger) in (Step.IDLE, Step.LOAN):
            self._in_their_turns(taker, rights.step_of(ledger), pending)
        if self.model.root(taker.quota) not in self._unseen_guards and not isinstance(after, say.Promote):
            self._does_not_fit_before(taker, ledger)
            self._minimal(taker, evicted, demoted, ledger)
            self._best(taker, evicted, demoted, ledger)
        for decision in pending:
            self._gone(decision)
        for decision in pending:
            self.model.jobs[decision.job].settle()
        self._shrunk()

    def _fair_take(self) -> None:
        """Check what a borrower takes from those with a larger share, and let it go (I4)."""
        fairly, self._fairly = self._fairly, []
        if not fairly:
            return
        assert not self._pending, "evictions for somebody else in between"
        assert not any(decision.counts for decision in fairly)
        preemptor = fairly[0].preemptor
        assert preemptor is not None
        pieces = [self._piece(decision) for decision in fairly]
        for piece in pieces:
            self._not_fresh(piece)
        fair_shares.check(self.model, self.model.jobs[preemptor], self._whole(pieces))
        self.fair_takes += 1
        for decision in fairly:
            self._gone(decision)
        for decision in fairly:
            self.model.jobs[decision.job].settle()

    def _shrunk(self) -> None:
        """End lazy scalings whose use has come down to the min; use above it later is a loan like others (Q5)."""
        model = self.model
        used = model.used()
        for quota in model.quotas.values():
            if quota.shrinking and not any(model.loan(quota.id, used)):
                model.quotas[quota.id] = quota._replace(shrinking=False)

    def _piece(self, decision: say.Evict | say.Demote) -> Piece:
        job = self.model.jobs[decision.job]
        if isinstance(decision, say.Demote):
            kind = "wanted" if decision.replicas else "core"
        else:
            kind = decision.kind.value
        for piece in job.pieces():
            alone = kind in ("wanted", "surplus")
            if piece.kind == kind and (not alone or decision.replicas == (piece.replica,)):
                return piece
        raise AssertionError(f"no such piece: {decision}")

    def _waited_long_enough(self, taker: JobView, evicted: list[Piece]) -> None:
        free_of_delay = all(rights.may_take(self.model, taker, p, Step.IDLE, self.now_ms) for p in evicted)
        due = taker.queued_ms + rights.preemption_delay(self.model, taker.quota)
        assert free_of_delay or self.now_ms >= due, f"{taker.id} preempts before its delay is over (P11)"

    def _lawful(self, taker: JobView, evicted: list[Piece], step: Step) -> None:
        for piece in evicted:
            if not self._goes_along(piece, evicted):
                assert rights.may_take(self.model, taker, piece, step, self.now_ms), (
                    f"{taker.id} may not take {piece} at step {step.value}"
                )
            if not self._known_exception(piece):
                self._not_fresh(piece)
        wrong = rights.lawful_together(self.model, taker, self._whole(evicted), step, self.now_ms)
        assert wrong is None, f"{taker.id} takes {evicted}: {wrong}"

    def _rises(self, taker: JobView, evicted: list[Piece]) -> None:
        """Check that running work only rises (P10): to a shallower quota, to a higher priority in the same quota or a
        sibling's subtree, from idle to regular; or a loan is returned (P15), or surplus gives way (P12)."""
        model = self.model
        above = len(model.path(taker.quota))
        for piece in evicted:
            victim = model.jobs[piece.job]
            shallower = taker.quota in model.path(victim.quota)[1:] and above < len(model.path(victim.quota))
            beside = victim.quota == taker.quota or model.sibling_above(taker.quota, victim.quota) is not None
            higher = beside and taker.priority > victim.priority
            gives_way = piece.kind == "surplus"
            lender = model.sibling_above(taker.quota, victim.quota)
            returned = (
                lender is not None
                and any(model.loan(lender, model.used()))
                and taker.priority >= victim.priority
            )
            assert piece.claim is Claim.IDLE or shallower or higher or gives_way or returned, (
                f"{taker.id} takes {piece} and nothing rises (P10)"
            )

    def _not_fresh(self, piece: Piece) -> None:
        """Check that the piece was not started, held or promoted in this very plan (S8)."""
        alone = piece.kind in ("wanted", "surplus")
        replicas = [piece.replica] if alone else list(self.model.jobs[piece.job].core)
        fresh = piece.kind != "hold" and {(piece.job, r) for r in replicas} & self.started
        assert not fresh, f"{piece} is started and evicted in one plan (S8)"
        assert piece.kind != "hold" or piece.job not in self.held, (
            f"{piece} is held and taken in one plan (S8)"
        )
        assert piece.kind != "core" or piece.job not in self.promoted, f"{piece} is promoted and taken (S8)"

    def _known_exception(self, piece: Piece) -> bool:
        """Return whether S8 is not checked for the piece: a guarded job ran idle in this plan, which frees what was kept."""
        return piece.claim is Claim.IDLE and self.guarded_ran_idle

    def _whole(self, pieces: list[Piece]) -> list[Piece]:
        """Return the pieces with what cores among them take along: replicas that run or are promised (P12)."""
        cores = {p.job for p in pieces if p.kind == "core"}
        more = [p for job in cores for p in self.model.jobs[job].pieces() if p.kind != "core"]
        return list(dict.fromkeys([*pieces, *more]))

    def _goes_along(self, piece: Piece, others: list[Piece]) -> bool:
        return piece.kind != "core" and any(p.kind == "core" and p.job == piece.job for p in others)

    def _fits(
        self, taker: JobView, gone: list[Piece], step: Step, *, off_devices: list[Piece] | None = None
    ) -> bool:
        """Return whether the taker's whole core fits every quota on its path, and devices by plan, without `gone`.

        `off_devices`: the pieces that also leave their devices; None: all of `gone`.
        """
        model = self.model
        wanted = [shape for _, shape in model.missing(taker)]
        past = rights.passes_guard(model, taker)
        avoid = frozenset() if past else model.guards[model.root(taker.quota)][1]
        loan = rights.at_least(step, Step.LOAN) and rights.may_borrow(model, taker)
        whole = self._whole(gone)
        off = whole if off_devices is None else self._whole(off_devices)
        if loan and not quota_fits(model, taker.quota, total(wanted), whole, loan=False, past_guard=past):
            loan = not self._surplus_on_loan(taker, whole)
        return quota_fits(
            model, taker.quota, total(wanted), whole, loan=loan, past_guard=past
        ) and devices_fit(model, model.root(taker.quota), wanted, off, avoid)

    def _does_not_fit_before(self, taker: JobView, ledger: say.Preemption) -> None:
        assert not self._fits(taker, [], Step.FREE), (
            f"{taker.id} fits on free capacity and evicts all the same"
        )
        assert not self._fits(taker, [], rights.step_of(ledger)), (
            f"{taker.id} needs a loan only and evicts all the same"
        )

    def _minimal(
        self, taker: JobView, evicted: list[Piece], demoted: list[Piece], ledger: say.Preemption
    ) -> None:
        """Check that no victim could have stayed (P8). Demoted pieces keep their devices: they free quota, but no place."""
        for back in evicted:
            rest = [p for p in evicted if p is not back]
            off = [p for p in rest if p not in demoted]
            assert not self._fits(taker, rest, rights.step_of(ledger), off_devices=off), (
                f"{back} need not go for {taker.id} (P8)"
            )

    def _ledger(
        self, evicted: list[Piece], demoted: list[Piece], ledger: say.Preemption, pending: list[say.Evict | say.Demote]
    ) -> None:  # fmt: skip
        """Check the costs and victims that the decision tells (P13)."""
        model = self.model
        paid = {p: rights.cost(model, p, self.now_ms, self.outage_ms) for p in evicted if p not in demoted}
        assert sorted(v.cost for v in ledger.victims) == sorted(paid.values())
        assert ledger.cost == sum(paid.values())
        assert ledger.cost_without_ladder <= ledger.cost
        assert {v.job for v in ledger.victims} == {p.job for p in paid}
        assert set(ledger.demoted) == {p.job for p in demoted}
        told = {(v.job, v.kind, v.replicas): v for v in ledger.victims}
        for decision in pending:
            if isinstance(decision, say.Evict):
                piece, line = self._piece(decision), told[decision.job, decision.kind, decision.replicas]
                gone = [piece, *(p for p in model.jobs[piece.job].pieces() if self._goes_along(p, [piece]))]
                lost = sum(rights.lost_work(model, p, self.now_ms, self.outage_ms) for p in gone)
                assert decision.cost == paid[piece]
                assert decision.lost_work == line.lost_work == lost
                assert line.freed == tuple(sum(p.size[i] for p in gone) for i in range(3))

    def _their_turn(self, taker: JobView, eligible: list[Piece], step: Step) -> list[Piece]:
        request = total(shape for _, shape in self.model.missing(taker))
        return fair_shares.in_their_turns(
            self.model,
            self.model.root(taker.quota),
            request,
            eligible,
            lambda gone: self._fits(taker, gone, step),
        )

    def _in_their_turns(self, taker: JobView, step: Step, pending: list[say.Evict | say.Demote]) -> None:
        """Check that borrowers go in the order of their shares, and that they are told when that spared others (I3, I4)."""
        model = self.model
        eligible = [p for p in model.pieces() if rights.may_take(model, taker, p, step, self.now_ms)]
        theirs = self._their_turn(taker, eligible, step)
        for decision in pending:
            piece = self._piece(decision)
            assert piece in theirs, f"{piece} is taken out of turn (I3, I4)"
            if isinstance(decision, say.Evict) and piece.claim is Claim.IDLE:
                spared = len(theirs) < len(eligible) and fair_shares.shares(model, taker, piece)
                assert (decision.reason.code is Code.LargestShare) == spared, decision

    def _best(
        self, taker: JobView, evicted: list[Piece], demoted: list[Piece], ledger: say.Preemption
    ) -> None:
        """Check by brute force, if it is small, that no earlier step, lower priority or lower cost was enough (P4, P5).

        Where victims were sought briefly, others may cost less, and that was told (A8).
        """
        if any(step.reason.code is Code.SoughtBriefly for step in ledger.tried):
            return
        model, now_ms = self.model, self.now_ms
        everyone = list(model.pieces())
        last = (
            Step.SIBLINGS
            if rights.at_least(rights.step_of(ledger), Step.SIBLINGS_ABOVE_MIN)
            else rights.step_of(ledger)
        )
        eligible = [p for p in everyone if rights.may_take(model, taker, p, last, now_ms)]
        if rights.step_of(ledger) in (Step.IDLE, Step.LOAN):
            eligible = self._their_turn(taker, eligible, rights.step_of(ledger))
        if len(eligible) > BRUTE_FORCE or demoted:
            return
        if len(model.missing(taker)) > 1 and pools_bind(model, model.root(taker.quota)):
            return  # gangs of a root with parts of shared pools are not claimed to be exact
        self.brute_forced += 1
        touched = max(rights.ladder(model, p) for p in evicted)
        price = {p: rights.cost(model, p, now_ms, self.outage_ms) for p in eligible}
        best: tuple[int, int, int, int] | None = None
        step_of = {}
        for step in rights.ORDER:
            if step is not Step.FREE and rights.at_least(last, step):
                for piece in eligible:
                    if piece not in step_of and rights.may_take(model, taker, piece, step, now_ms):
                        step_of[piece] = rights.ORDER.index(step)
        for size in range(len(eligible) + 1):
            for subset in combinations(eligible, size):
                chosen = [p for p in subset if not self._goes_along(p, list(subset))]
                if len(chosen) < len(subset):
                    continue
                highest = max((rights.ladder(model, p) for p in chosen), default=0)
                spent = sum(price[p] for p in chosen)
                for step in self._useful_steps(last):
                    part = rights.ORDER.index(step)
                    key = (min(part, TOGETHER), highest, part, spent)
                    if best is not None and key >= best:
                        break
                    if any(step_of[p] > part for p in chosen) or not self._fits(taker, chosen, step):
                        continue
                    whole = self._whole(chosen)
                    if rights.lawful_together(model, taker, whole, step, now_ms) is None:
                        best = key
                        break
        if best is None and model.guards and any(any(q.spec.reserved) for q in model.quotas.values()):
            return  # open: a guard's room and a reserved part that the victims leave unused may be the same room
        assert best is not None, "brute force finds no lawful set at all"
        part = rights.ORDER.index(rights.step_of(ledger))
        found = (min(part, TOGETHER), touched, part, ledger.cost)
        assert best[0] >= found[0], (
            f"{taker.id}: step {rights.ORDER[best[0]].value} was enough (P4), took {evicted}"
        )
        assert best[1] >= found[1] or best[0] > found[0], (
            f"{taker.id}: priority {best[1]} was enough (P5): {evicted}"
        )
        wanted = model.missing(taker)
        if len(wanted) == 1:
            assert best == found, f"{taker.id}: {best} was enough, paid {found} (P4, P5): {evicted}"
        if best[2] == found[2]:
            self.gang_ratios.append((found[3], best[3]))

    def _useful_steps(self, last: Step) -> list[Step]:
        return [step for step in rights.ORDER if step is not Step.FREE and rights.at_least(last, step)]

    def _gone(self, decision: say.Evict | say.Demote) -> None:
        job = self.model.jobs[decision.job]
        if isinstance(decision, say.Demote):
            assert job.idle is Idle.ALLOW
            assert job.claim is Claim.REGULAR
            turned = decision.replicas or tuple(job.extras)
            job.extras |= {r: job.extras[r]._replace(claim=Claim.IDLE) for r in turned}
            if not decision.replicas:
                job.claim = Claim.IDLE
            return
        if decision.kind.value == "hold":
            job.hold = None
            if job.phase is Phase.HELD:
                job.phase = Phase.WAITING
            return
        if decision.kind.value in ("wanted", "surplus"):
            (replica,) = decision.replicas
            job.leaving[replica] = job.extras.pop(replica).place
            return
        assert set(decision.replicas) == set(job.core) | set(job.extras), (
            "a core goes as a whole, with all other replicas"
        )
        job.leaving.update(job.core)
        job.leaving.update({r: extra.place for r, extra in job.extras.items()})
        job.core, job.extras, job.hold, job.claim = {}, {}, None, Claim.REGULAR
        job.phase = Phase.WAITING if decision.requeued else Phase.STOPPED
        job.queued_ms = self.now_ms

    def _moved(self) -> None:
        """Check that victims that found another place in the same plan are told as moved and not counted (P8)."""
        for decision in self.plan.decisions:
            if isinstance(decision, say.Evict) and decision.kind.value == "core":
                again = self.model.jobs[decision.job].phase in (Phase.RUNNING, Phase.HELD)
                assert decision.moved == again, decision
                assert not (decision.moved and decision.counts)

    # -- always ----------------------------------------------------------------------------------------------

    def _nothing_exceeded(self, when: str) -> None:
        for physical in (False, True):
            how = "physically" if physical else "by plan"
            assert exceeded(self.model, physical=physical) == [], f"exceeded {how} {when}"
