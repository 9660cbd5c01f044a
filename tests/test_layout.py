"""Are the tests of a module found by its path?

`tests/core/search/test_gang.py` tests `core/search/gang.py`; `test_supervisor_faults.py` tests an aspect of `supervisor.py`;
`tests/sim/test_report.py` tests the package `sim/report` as a whole. `exact/`, `benchmarks/` and `console/` beside the package are mirrored too.
Two lists hold what is otherwise: `THROUGH` and `PROMISES`. Both are checked for lines that are no longer needed.
"""

from __future__ import annotations

import ast
from fnmatch import fnmatch
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "src" / "quotatree"
TESTS = ROOT / "tests"
BESIDE = ("benchmarks/", "console/", "exact/", "requirements/")
LARGE = 100

# Modules without a test file of their own, and the test that would notice if they were wrong.
THROUGH = {
    "access/roles.py": "access/test_check.py",
    "access/values.py": "access/test_directory.py",
    "api/models/*": "api/test_described.py",
    "api/routes/*": "api/test_rights.py",
    "api/app.py": "api/test_rights.py",
    "api/simulation_history.py": "api/routes/test_simulations.py",
    "api/caller.py": "api/test_rights.py",
    "api/route.py": "api/test_rights.py",
    "cli/__init__.py": "cli/test_commands.py",
    "cli/bars.py": "cli/look/test_tree.py",
    "cli/change/program.py": "cli/test_local.py",
    "cli/look/logs.py": "cli/test_local.py",
    "cli/look/top.py": "cli/look/test_tree.py",
    "cli/look/nouns.py": "cli/look/test_get.py",
    "cli/output.py": "cli/look/test_get.py",
    "cli/try_out/simulation_*.py": "cli/try_out/test_simulate.py",
    "client/jobs.py": "cli/change/test_job_verbs.py",
    "codec/encoding.py": "codec/test_decoding.py",
    "codec/kinds.py": "codec/test_decoding.py",
    "control/batch.py": "control/test_committer.py",
    "control/batch_rows.py": "control/test_walks.py",
    "control/decision_effects.py": "control/test_walks.py",
    "control/live_metrics.py": "docs/test_server_metrics.py",
    "control/turn.py": "control/test_committer.py",
    "control/world.py": "control/test_walks.py",
    "core/changes/quotas.py": "core/test_errors.py",
    "core/model/job.py": "core/test_errors.py",
    "core/model/job_request.py": "cli/test_fields.py",
    "core/model/noun_fields.py": "cli/test_fields.py",
    "core/model/quota.py": "core/model/test_quota_arithmetic.py",
    "core/quota_figures.py": "property/test_promises.py",
    "core/reasons.py": "docs/test_reference.py",
    "core/records.py": "property/test_snapshot.py",
    "core/planning/claimant.py": "core/planning/test_attempt.py",
    "core/planning/taking.py": "core/planning/test_attempt.py",
    "core/planning/fair_shares.py": "core/planning/test_fair_take.py",
    "core/search/ladder.py": "core/search/test_victims.py",
    "core/search/protections.py": "core/search/test_eligible.py",
    "core/search/node_*.py": "core/search/test_victims.py",
    "core/planning/outcome.py": "core/planning/test_applying.py",
    "core/snapshots.py": "property/test_snapshot.py",
    "core/state/facts.py": "property/test_snapshot.py",
    "core/state/units.py": "property/test_promises.py",
    "core/state/nodes.py": "property/test_snapshot.py",
    "engines/base.py": "engines/test_contract.py",
    "engines/local/host/sandbox.py": "engines/local/test_hostile_jobs.py",
    "engines/local/server/known.py": "engines/local/server/test_engine.py",
    "engines/local/server/watch.py": "engines/local/server/test_engine.py",
    "engines/local/supervisor/loop.py": "engines/local/supervisor/test_supervisor_faults.py",
    "engines/local/supervisor/proxy_link.py": "engines/local/supervisor/test_service.py",
    "engines/local/supervisor/replica.py": "engines/local/supervisor/test_supervisor.py",
    "engines/local/supervisor/spawn.py": "engines/local/supervisor/test_supervisor.py",
    "kubernetes_edge/edge.py": "kubernetes/test_native_jobs.py",
    "engines/kubernetes/adopted_*.py": "engines/kubernetes/test_native.py",
    "engines/kubernetes/engine.py": "kubernetes/test_engine.py",
    "engines/kubernetes/pod_work.py": "kubernetes/test_engine.py",
    "kubernetes_edge/inside.py": "kubernetes_edge/test_declaring.py",
    "kubernetes_edge/job_stories.py": "kubernetes/test_native_jobs.py",
    "kubernetes_edge/declarations.py": "kubernetes/test_resources.py",
    "kubernetes_edge/removal.py": "kubernetes/test_uninstall.py",
    "cli/run/uninstall.py": "kubernetes/test_uninstall.py",
    "manifest/*": "cli/change/test_apply.py",
    "scenario/amounts.py": "scenario/test_load.py",
    "scenario/check.py": "scenario/test_expect.py",
    "scenario/load_*.py": "scenario/test_load.py",
    "scenario/model.py": "scenario/test_scenarios.py",
    "scenario/render.py": "scenario/test_scenarios.py",
    "scenario/seen.py": "scenario/test_expect.py",
    "scenario/table.py": "scenario/test_load.py",
    "server/assembly.py": "cli/run/test_serve.py",
    "sim/export.py": "sim/test_promises.py",
    "sim/models.py": "sim/test_baselines.py",
    "sim/setup.py": "sim/test_replay.py",
    "sim/summary.py": "sim/test_report.py",
    "sim/track.py": "sim/test_replay.py",
    "sim/worker.py": "api/routes/test_simulations.py",
    "sim/workload.py": "cli/try_out/test_simulate.py",
    "store/migrations/*": "store/test_migrate.py",
    "store/pages.py": "store/test_reads.py",
    "store/read_rows.py": "store/test_stored_rows.py",
    "store/rows.py": "store/test_stored_rows.py",
    "store/store.py": "store/test_write.py",
    "store/usage.py": "control/test_accounting.py",
}

# Tests of no single module: what they hold is a promise of many.
PROMISES = {
    "api/test_rights.py": "every route, by every role",
    "api/test_unavailable.py": "a store that cannot be written to, seen through HTTP",
    "api/test_writing.py": "two writers never overwrite each other",
    "cli/test_fields.py": "every field of a noun, at every edge",
    "cli/test_local.py": "real jobs by the command line",
    "cli/test_mistakes.py": "the usual mistakes are told",
    "cli/test_whole.py": "the real command against a real server",
    "control/test_faults.py": "a server when something breaks",
    "control/test_living_walks.py": "a server with an engine that lives",
    "control/test_walks.py": "memory is what is written",
    "*/test_stored_*.py": "what is stored stays readable: golden files",
    "console/test_licences.py": "the licences of the console's packages, gathered by console/licences.ts",
    "console_browser/*": "the console in a real browser, against a real server",
    "docs/*": "pages say what is",
    "engines/local/test_hostile_jobs.py": "a job gets nothing of another workspace",
    "engines/test_contract.py": "every engine keeps to the contract",
    "faults/*": "nothing is lost by kill -9",
    "kubernetes/*": "stories on a real Kubernetes control plane",
    "prometheus/*": "the dashboard and the alert rules, on a real Prometheus",
    "property/*": "what holds for every cluster, whatever happens",
    "release/*": "what `make release` has made, installed and run from its files alone",
    "scenario/test_scenarios.py": "every story in scenarios/ goes as it says",
    "sim/test_promises.py": "the core's promises along whole replays",
    "store/test_kill.py": "nothing committed is lost by kill -9",
    "test_architecture.py": "which package may import what",
    "test_version.py": "what repeats the version says the same",
    "test_layout.py": "tests are found by the path of what they test",
}


def test_every_large_module_has_tests_at_its_path_or_says_where():
    large = [module for module in modules_without_tests() if is_large(module)]
    assert [module for module in large if place_of(module, THROUGH) is None] == []


def test_every_test_file_mirrors_a_module_or_is_a_promise():
    assert [test for test in all_tests() if not mirrors(test) and place_of(test, PROMISES) is None] == []


def test_no_line_of_the_lists_is_out_of_date():
    without, files = modules_without_tests(), all_tests()
    assert [test for test in THROUGH.values() if test not in files] == []
    assert [pattern for pattern in THROUGH if not any(fnmatch(one, pattern) for one in without)] == []
    strays = [test for test in files if not mirrors(test)]
    assert [pattern for pattern in PROMISES if not any(fnmatch(one, pattern) for one in strays)] == []


def modules_without_tests() -> list[str]:
    """Modules of the package, of any size, that no test file mirrors."""
    mirrored = {module for test in all_tests() for module in modules_tested_by(test)}
    modules = (path.relative_to(SOURCE).as_posix() for path in sorted(SOURCE.rglob("*.py")))
    return [module for module in modules if module not in mirrored]


def is_large(module: str) -> bool:
    """Whether it has so many lines, and any branch or loop: a page of plain values needs no tests of its own."""
    text = (SOURCE / module).read_text(encoding="utf-8")
    branches = ast.If | ast.IfExp | ast.BoolOp | ast.For | ast.While | ast.comprehension | ast.Match | ast.Try
    return len(text.splitlines()) >= LARGE and any(
        isinstance(node, branches) for node in ast.walk(ast.parse(text))
    )


def all_tests() -> list[str]:
    return sorted(path.relative_to(TESTS).as_posix() for path in TESTS.rglob("test_*.py"))


def mirrors(test: str) -> bool:
    return bool(modules_tested_by(test))


def modules_tested_by(test: str) -> list[str]:
    """The module at the test's path, or all of the package there; of `test_a_b.py`, else of `test_a.py`."""
    source = ROOT if test.startswith(BESIDE) else SOURCE
    folder = (source / test).parent
    for name in names(test):
        found = [folder / f"{name}.py", *(folder / name).glob("*.py")]
        if any(path.exists() for path in found):
            return [path.relative_to(source).as_posix() for path in found]
    return []


def names(test: str) -> list[str]:
    words = Path(test).stem.removeprefix("test_").split("_")
    return ["_".join(words[:count]) for count in range(len(words), 0, -1)]


def place_of(file: str, patterns: dict[str, str]) -> str | None:
    return next((where for pattern, where in patterns.items() if fnmatch(file, pattern)), None)
