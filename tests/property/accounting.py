"""Every counter the state keeps, computed again from the jobs (Q7), and every table's membership."""

from __future__ import annotations

from collections import Counter

from quotatree.core.model.job import FINAL_PHASES, Claim, Job, Phase
from quotatree.core.model.policy import Module
from quotatree.core.model.quota import Quota
from quotatree.core.model.resources import WHOLE_GPU
from quotatree.core.model.unit import Unit, UnitKind
from quotatree.core.quota_figures import JobTotal, ModuleTotal, job_totals, module_totals, quota_report
from quotatree.core.state import State, units_of
from tests.property.model import Model, total


def check_jobs(state: State) -> None:
    """Check that phase, claim, core, surplus and hold of each job agree, and that tables list exactly the right jobs."""
    for job in state.jobs.values():
        runs = job.phase is Phase.RUNNING
        assert (job.core is not None) == runs, job.story
        assert (job.phase is Phase.HELD) <= (job.hold is not None), job.story
        assert job.hold is None or job.phase in (Phase.HELD, Phase.RUNNING), job.story
        assert not job.extras or runs, job.story
        assert runs or job.claim is Claim.REGULAR or job.phase in FINAL_PHASES or job.phase is Phase.STOPPED
        replicas = [*job.core_indexes, *job.extras, *job.leaving]
        assert len(set(replicas)) == len(replicas), f"a replica twice: {job.story}"
        assert job.ending.items() <= job.leaving.items(), job.story
        assert (job.id in job.quota.queue.of_job) == job.queued, f"{job.id} queue membership: {job.story}"
        assert (job.id in job.quota.jobs) == (job.phase not in FINAL_PHASES)
    everybody = state.jobs.values()
    assert set(state.held) == {j.id for j in everybody if j.hold is not None}
    assert set(state.leaving_jobs) == {j.id for j in everybody if j.leaving}
    assert state.leaving_replicas == sum(len(j.leaving) for j in everybody)
    assert set(state.elastic) >= {
        j.id for j in everybody if j.running and j.core_replicas < j.spec.most_replicas
    }
    assert all(j.running for j in state.elastic.values())
    assert set(state.waiting_quotas) == {j.quota.id for j in everybody if j.queued}


def check_replicas(state: State) -> None:
    """Check that every replica beyond a core counts as what the numbers say, and costs its part of an outage (P12, P6)."""
    for job in state.jobs.values():
        if job.core is None:
            continue
        kinds = Counter(unit.cls.kind for unit in job.extras.values())
        core, wanted = len(job.core_indexes), job.spec.wanted_replicas
        assert core <= job.core_replicas, job.story
        assert job.running_replicas <= job.spec.most_replicas, job.story
        same_claim = sum(1 for unit in job.extras.values() if unit.cls.claim is job.claim)
        assert core == job.core_replicas or not same_claim, f"what runs is the core: {job.story}"
        assert kinds[UnitKind.WANTED] == min(len(job.extras), max(0, wanted - core)), job.story
        assert kinds[UnitKind.SURPLUS] == max(0, job.running_replicas - max(wanted, core)), job.story
        for unit in job.extras.values():
            assert unit.base == unit.constant_cost(state.settings.eas_outage_ms), job.story


def check_queues(state: State) -> None:
    model = Model.of(state)
    for quota in state.quotas.values():
        queue = quota.queue
        listed = Counter(job_id for cls in queue.classes.values() for _, job_id in cls.members)
        assert listed == Counter(list(queue.of_job))
        for cls in queue.classes.values():
            assert cls.members == sorted(cls.members)
            for _, job_id in cls.members:
                job = state.jobs[job_id]
                assert queue.of_job[job_id] is cls
                assert cls.priority == job.priority
                wanted = [shape for _, shape in model.missing(model.jobs[job_id])]
                if not cls.promotes:
                    assert tuple(cls.request) == total(wanted), (job_id, cls.request)


def check_quotas(state: State) -> None:
    model = Model.of(state)
    used, idle = model.used(), model.sums(Claim.IDLE)
    for quota in state.quotas.values():
        ending = [p.shape for j in state.jobs.values() if j.quota is quota for p in j.ending.values()]
        assert tuple(quota.ending) == total(ending), quota.id
        for i in range(3):
            assert quota.kept[i] == _kept(quota, i), (quota.id, quota.kept)
            assert quota.kept_below[i] == sum(_kept(child, i) for child in quota.children)
        mine = [p for p in model.pieces() if model.jobs[p.job].quota == quota.id]
        assert quota.used == used[quota.id], quota.id
        assert quota.idle == idle[quota.id], quota.id
        below = [
            p for p in model.pieces()
            if (p.kind, p.claim) == ("surplus", Claim.REGULAR) and quota.id in model.path(model.jobs[p.job].quota)
        ]  # fmt: skip
        assert quota.surplus == [sum(p.size[i] for p in below) for i in range(3)], quota.id
        for claim, own in ((Claim.REGULAR, quota.own_used), (Claim.IDLE, quota.own_idle)):
            assert own == [sum(p.size[i] for p in mine if p.claim is claim) for i in range(3)], quota.id
        guard = model.guards.get(model.root(quota.id))
        kept = [0, 0, 0]
        if guard is not None:
            waiting = model.jobs[guard[0]]
            misses = waiting.phase is Phase.RUNNING and model.missing(waiting)
            assert waiting.phase is Phase.WAITING or misses, (
                f"the guard keeps capacity for {waiting.id}: {waiting.phase}"
            )
            if quota.id in model.path(waiting.quota):
                kept = list(total(shape for _, shape in model.missing(waiting)))
        assert quota.shadow == kept, quota.id
        above = any(m is not None and used[quota.id][i] > m for i, m in enumerate(quota.min))
        assert not quota.shrinking or above, f"{quota.id} shrinks no more"
    for root in state.roots:
        assert root.tree.surplus_units == sum(
            1
            for p in model.pieces()
            if (p.kind, p.claim) == ("surplus", Claim.REGULAR)
            and model.root(model.jobs[p.job].quota) == root.id
        )
        mates = [r for r in state.roots if pools(r.id, state) & pools(root.id, state)]
        assert root.tree.idle_units == sum(
            1
            for p in model.pieces()
            if p.claim is Claim.IDLE and model.root(model.jobs[p.job].quota) in {m.id for m in mates}
        )
        if len(root.spec.draws) > 1:
            standing = Counter[str]()
            for piece in model.pieces():
                if model.root(model.jobs[piece.job].quota) == root.id:
                    for place in piece.places:
                        standing[model.nodes[place.node].pool] += place.shape.gpu_milli
            assert {p: n for p, n in root.tree.pool_used.items() if n} == {
                p: n for p, n in standing.items() if n
            }


def _kept(quota: Quota, resource: int) -> int:
    """What must stay free for reserved parts of the subtree that are not in use, from the leaves up (Q8)."""
    missing = quota.spec.reserved[resource] - quota.used[resource]
    return max(0, missing, sum(_kept(child, resource) for child in quota.children))


def pools(root: str, state: State) -> set[str]:
    return {pool for pool, _ in state.quotas[root].spec.draws}  # type: ignore[index]


def check_nodes(state: State) -> None:
    model = Model.of(state)
    for node in state.nodes:
        gpus = node.spec.gpus
        free, held, leaving = [WHOLE_GPU] * gpus, [0] * gpus, [0] * gpus
        cpu, memory, held_cpu, held_memory, leaving_cpu, leaving_memory, count = (
            node.spec.cpu_milli - node.foreign.cpu_milli, node.spec.memory_mib - node.foreign.memory_mib, 0, 0, 0, 0, 0,
        )  # fmt: skip
        shared = 0
        for piece in model.pieces():
            for place in piece.places:
                if place.node != node.spec.name:
                    continue
                cpu, memory = cpu - place.shape.cpu_milli, memory - place.shape.memory_mib
                shared += 0 < place.shape.gpu_milli < WHOLE_GPU
                for device in place.devices:
                    free[device] -= place.on_device()
                    held[device] += place.on_device() if piece.kind == "hold" else 0
                if piece.kind == "hold":
                    held_cpu, held_memory = (
                        held_cpu + place.shape.cpu_milli,
                        held_memory + place.shape.memory_mib,
                    )
        for job in model.jobs.values():
            for place in job.leaving.values():
                if place.node == node.spec.name:
                    count += 1
                    leaving_cpu, leaving_memory = (
                        leaving_cpu + place.shape.cpu_milli, leaving_memory + place.shape.memory_mib,
                    )  # fmt: skip
                    for device in place.devices:
                        leaving[device] += place.on_device()
        assert not node.ill & node.foreign_devices
        wanted = -(-node.foreign.gpu_milli // WHOLE_GPU)
        short = wanted - len(node.foreign_devices)
        assert short >= 0, f"{node.spec.name} counts more devices for others than they use (R6)"
        for device in node.ill | node.foreign_devices:
            assert free[device] == WHOLE_GPU, (
                f"somebody stands on {node.spec.name}:{device}, which is ill or used by others (R5, R6)"
            )
            free[device] = 0
        assert not short or WHOLE_GPU not in free, f"{node.spec.name} has a free device that others use (R6)"
        assert node.crowded is (short > 0 or cpu < 0 or memory < 0), node.spec.name
        assert not (node.crowded and held_cpu + held_memory + sum(held)), "a promise on a crowded node (R6)"
        assert (node.free, node.held, node.leaving) == (free, held, leaving), node.spec.name
        assert (node.free_cpu, node.free_memory) == (cpu, memory)
        assert (node.held_cpu, node.held_memory) == (held_cpu, held_memory)
        assert (node.leaving_cpu, node.leaving_memory, len(node.leavers)) == (
            leaving_cpu,
            leaving_memory,
            count,
        )
        assert node.shared == shared
        now = [f - max(0, going - promised) for f, going, promised in zip(free, leaving, held, strict=True)]
        assert node.whole_free == free.count(WHOLE_GPU)
        assert node.whole_now == now.count(WHOLE_GPU)
        standing = {u for job in state.jobs.values() for u in units_of(job) if node.index in u.nodes}
        assert set(node.units) == standing, node.spec.name


def check_units(state: State) -> None:
    """Check that unit classes hold exactly the units of all jobs, in order, and agree with those jobs."""
    everything: list[Unit] = [u for job in state.jobs.values() for u in units_of(job)]
    seen: Counter[int] = Counter()
    for cls in state._classes.values():
        members = [u for u in everything if u.cls is cls]
        assert list(cls.standing) == [sum(u.footprint[i] for u in members) for i in range(3)]
        listed = [entry[3] for bucket in cls.buckets.values() for entry in bucket]
        assert Counter(map(id, listed)) == Counter(map(id, members))
        for (gpu_milli, interval_ms), bucket in cls.buckets.items():
            assert bucket
            assert [e[:3] for e in bucket] == sorted(e[3].order_entry()[:3] for e in bucket)
            assert all(
                (e[3].footprint.gpu_milli, e[3].interval_ms) == (gpu_milli, interval_ms) for e in bucket
            )
        seen.update(id(u) for u in members)
    assert len(seen) == len(everything), "a unit of a forgotten class"
    for unit in everything:
        job: Job = unit.job
        assert (unit.cls.quota, unit.cls.priority, unit.cls.module) == (
            job.quota,
            job.priority,
            job.spec.module,
        )
        if unit.cls.kind in (UnitKind.HOLD, UnitKind.CORE):
            assert unit.cls.claim is (Claim.REGULAR if unit.cls.kind is UnitKind.HOLD else job.claim)
        elif job.claim is Claim.IDLE:
            assert unit.cls.claim is Claim.IDLE, "the core is promoted first (I1)"


def check_limits(state: State) -> None:
    for quota, limits in state.limits.items():
        for limit in limits:
            used = sum(
                unit.footprint.gpu_milli
                for job in state.jobs.values()
                if job.quota.id == quota
                and limit.subject in job.spec.subjects
                and limit.low <= job.priority <= limit.high
                for unit in units_of(job)
            )
            assert state.limit_used.get(limit, 0) == used, limit


def check_module_totals(state: State, model: Model) -> None:
    """Check the totals by module, of one quota each, against those computed from the jobs (Q7)."""
    for quota in model.quotas:
        for module, told in module_totals(state, {quota}).items():
            here = [j for j in state.jobs.values() if j.quota.id == quota and j.spec.module is module]
            units = [unit for job in here for unit in units_of(job)]
            idle = sum(unit.footprint.gpu_milli for unit in units if unit.cls.claim is Claim.IDLE)
            waiting = [job for job in here if job.phase is Phase.WAITING]
            missing = sum(s.gpu_milli for j in waiting for _, s in model.missing(model.jobs[j.id]))
            assert told == ModuleTotal(
                running_jobs=sum(job.core is not None for job in here),
                regular_milli=sum(unit.footprint.gpu_milli for unit in units) - idle,
                idle_milli=idle,
                waiting_jobs=len(waiting),
                waiting_milli=missing,
            )


def check_job_totals(state: State) -> None:
    """Check how many jobs run and wait, by quota and module, and the longest wait against the jobs (Q7)."""
    wanted: dict[tuple[str, Module], JobTotal] = {}
    for job in state.jobs.values():
        if job.core is not None or job.phase is Phase.WAITING:
            total = wanted.setdefault((job.quota.id, job.spec.module), JobTotal())
            total.running += job.core is not None
            if job.phase is Phase.WAITING:
                total.waits(1, job.queued_ms)
    assert job_totals(state) == wanted


def check_reports(state: State) -> None:
    """Check the figures shown for each quota against those computed from the jobs (Q4, Q7)."""
    check_job_totals(state)
    model = Model.of(state)
    check_module_totals(state, model)
    used, idle = model.used(), model.sums(Claim.IDLE)
    for quota in model.quotas.values():
        report = quota_report(state, quota.id)
        own = [
            sum(
                p.size[i]
                for p in model.pieces()
                if p.claim is Claim.REGULAR and model.jobs[p.job].quota == quota.id
            )
            for i in range(3)
        ]
        waiting = [j for j in model.jobs.values() if j.quota == quota.id and j.phase is Phase.WAITING]
        queued = [total(shape for j in waiting for _, shape in model.missing(j))[i] for i in range(3)]
        assert list(report.used_own) == own
        assert [a + b for a, b in zip(report.used_own, report.used_below, strict=True)] == used[quota.id]
        assert list(report.loan) == model.loan(quota.id, used)
        assert list(report.idle_borrowed) == idle[quota.id]
        assert (list(report.queued), report.queued_jobs) == (queued, len(waiting))
        under = [
            j for j in model.jobs.values() if j.phase is Phase.WAITING and quota.id in model.path(j.quota)[1:]
        ]
        queued = [total(shape for j in under for _, shape in model.missing(j))[i] for i in range(3)]
        assert (list(report.queued_below), report.queued_jobs_below) == (queued, len(under))
        for i in range(3):
            rooms = [
                m - used[q][i]
                for q in model.path(quota.id)
                for m in [model.quotas[q].min[i]]
                if m is not None
            ]
            above = [
                m - used[q][i]
                for q in model.path(quota.id)[1:]
                for m in [model.quotas[q].min[i]]
                if m is not None
            ]
            assert report.free[i] == (max(0, min(rooms)) if rooms else 0)
            bound = quota.min[i]
            squeezed = 0
            if bound is not None and above:
                squeezed = max(0, bound - used[quota.id][i] - max(0, min(above)))
            assert report.squeezed[i] == squeezed
            actual = report.actual[i]
            assert bound is None or (actual is not None and actual >= bound), (
                "actual follows desired from above"
            )


def check_memory(state: State) -> None:
    """Check that no failure rests on a version that the tree never had or that was taken back: it would be given again (A8)."""
    for quota in state.quotas.values():
        for cls in quota.queue.classes.values():
            for failed in (cls.failed, cls.failed_idle):
                assert failed is None or failed.version <= quota.tree.version, (
                    f"{quota.id} remembers {failed}"
                )


ALL = (
    check_jobs,
    check_replicas,
    check_queues,
    check_quotas,
    check_nodes,
    check_units,
    check_limits,
    check_reports,
    check_memory,
)
