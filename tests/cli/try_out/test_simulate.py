"""`quotatree simulate`: files in, tables and files out, and what is said when a file is wrong."""

import csv
import json
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from quotatree.cli import main
from quotatree.cli.try_out import simulation_file, simulation_jobs
from quotatree.cli.try_out.simulation_file import load_simulation
from quotatree.scenario.errors import ScenarioError
from quotatree.scenario.table import Table
from quotatree.sim.baselines import BASELINES
from quotatree.sim.export import EVICTION_COLUMNS, JOB_COLUMNS, SAMPLE_COLUMNS
from quotatree.sim.replay import Replay
from quotatree.sim.workload import Submission, Workload
from tests.docs.test_pages import contains_in_order, shown

ROOT = Path(__file__).resolve().parents[3]
REFERENCE = (ROOT / "docs/reference/simulation.md").read_text(encoding="utf-8")
JOBS = """id,submit_s,duration_s,gpus,team,priority
x,0,100,8,a,1
y,10,100,8,a,9
z,20,50,4,b,1
"""
FILE = """
title = "made"
private_clusters = false
[trace]
path = "jobs.csv"
[tree]
gpus = { a = 8, b = 8 }
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "jobs.csv").write_text(JOBS, encoding="utf-8")
    (tmp_path / "made.toml").write_text(FILE, encoding="utf-8")
    return tmp_path


def call(*words: object) -> Result:
    return CliRunner().invoke(main, ["simulate", *map(str, words)])


def test_one_file_prints_metrics_by_group(folder: Path):
    result = call(folder / "made.toml")
    assert result.exit_code == 0, result.output
    assert re.search(r"^wait mean +30 s$", result.output, re.MULTILINE)  # 0, 90 and 0 s
    assert re.search(r"^a +2 +45 s", result.output, re.MULTILINE)
    assert "made: QuotaTree" in result.output


def test_json_and_files_say_the_same(folder: Path):
    result = CliRunner().invoke(
        main, ["simulate", str(folder / "made.toml"), "-o", "json", "--out", str(folder / "out")]
    )
    printed = json.loads(result.stdout)
    assert printed == json.loads((folder / "out/metrics.json").read_text(encoding="utf-8"))
    assert printed["schema"] == "quotatree.simulate/1"
    assert printed["overall"]["wait"]["mean_s"] == 30.0
    with (folder / "out/jobs.csv").open(encoding="utf-8") as file:
        rows = {row["id"]: row for row in csv.DictReader(file)}
    assert (rows["y"]["first_start_s"], rows["y"]["waited_s"], rows["y"]["end"]) == ("100", "90", "done")
    with (folder / "out/timeline.csv").open(encoding="utf-8") as file:
        samples = list(csv.DictReader(file))
    assert (samples[1]["time_s"], samples[1]["running"], samples[1]["team:b"]) == ("60", "12", "4")


def test_compared_files_stand_side_by_side(folder: Path):
    (folder / "pool.toml").write_text('baseline = "pool-fifo"\n' + FILE, encoding="utf-8")
    result = call(
        "--compare", folder / "made.toml", folder / "pool.toml", "--processes", 2, "--out", folder / "out"
    )
    assert result.exit_code == 0, result.output
    assert re.search(r"^METRIC +made +pool$", result.output, re.MULTILINE)
    assert re.search(r"^wait mean +30 s +27 s$", result.output, re.MULTILINE)  # 0, 0 and 80 s
    assert (folder / "out/pool/jobs.csv").is_file()


def test_a_baseline_can_be_named_on_the_command_line(folder: Path):
    assert "one pool, FIFO (model)" in call(folder / "made.toml", "--baseline", "pool-fifo").output


def test_several_files_without_compare_are_refused(folder: Path):
    result = call(folder / "made.toml", folder / "made.toml")
    assert (result.exit_code, "say --compare" in result.output) == (2, True)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (("title", "titel"), "titel is not a field here; did you mean title?"),
        (("[trace]", "[trace]\nlimt = 3"), "limt is not a field here; did you mean limit?"),
        (('path = "jobs.csv"', 'path = "no.csv"'), "no.csv"),
        (('path = "jobs.csv"', ""), "needs exactly one of path, synthetic"),
        (("a = 8", 'a = "many"'), "must be a number of GPUs"),
        (("[tree]", '[jobs]\nignore = "colour"\n[tree]'), "must be one of cpu, memory, models"),
        (("[tree]", "[[rules]]\npriority = 11\n[tree]"), "must be priorities 1 to 9"),
        (("[tree]", "[[rules]]\nshare = 2\n[tree]"), "must be a share from 0 to 1"),
        (("[tree]", '[[rules]]\nquota = "c"\n[tree]'), "is not a quota; there are a, b, cluster"),
        (("[tree]", '[checkpoints]\nmodel = "none"\ninterval = "1h"\n[tree]'), 'belongs to model = "interval"'),
        (("[tree]", "[[quotas]]\nid = 'q'\ngpus = 8\n[tree]"), "has both a [tree] and [[quotas]]"),
        (("[tree]", '[[at]]\ntime = "1m"\ncancel = "x"\n[tree]'), "no job of this file is called 'x'"),
        (("[tree]", "[cluster]\nnodes = 1\n[tree]"), "draws.default"),
        (("title", 'baseline = "magic"\ntitle'), "known are quotatree, static"),
        (("[trace]", "[trace]\nfrom = 2017-10-01"), "has no dates"),
        (("[trace]", "[trace]\nmapping = { crew = 'team' }"), "is not a field; fields are team"),
        (("title = ", "title ="), ""),
        (("[trace]", "[trace"), "is not valid TOML"),
    ],
)  # fmt: skip
def test_what_is_wrong_with_a_file_is_said(folder: Path, change: tuple[str, str], says: str):
    (folder / "made.toml").write_text(FILE.replace(*change), encoding="utf-8")
    result = call(folder / "made.toml")
    assert says in result.output
    assert result.exit_code == (2 if says else 0), result.output


def test_the_operators_steps_are_read_as_in_scenarios(folder: Path):
    steps = """
[[at]]
time = "50s"
transfer = { from = "b", to = "a", gpus = 8 }
[[at]]
time = "1m"
update = { quota = "a", self_level = { high = 9, low = 1, modules = ["DLC"] } }
"""
    (folder / "made.toml").write_text(FILE + steps, encoding="utf-8")
    setup = load_simulation(folder / "made.toml").setup
    assert [(step.time_ms, type(step.events[0]).__name__) for step in setup.timeline] == [
        (50_000, "QuotaTransferred"),
        (60_000, "QuotaUpdated"),
    ]
    assert call(folder / "made.toml").exit_code == 0


def test_quotas_can_follow_from_what_teams_used(folder: Path):
    """a: 1,600 GPU-seconds in 20 s at a load of 0.7 are 115 GPUs; b: 200 are 15."""
    (folder / "made.toml").write_text(
        FILE.replace("gpus = { a = 8, b = 8 }", 'gpus = "as needed"'), encoding="utf-8"
    )
    setup = load_simulation(folder / "made.toml").setup
    assert [quota.min.gpu_milli for quota in setup.quotas[1:]] == [115_000, 15_000]
    assert sum(node.gpus for node in setup.nodes) == 130
    assert setup.nodes[-1].gpus == 2


def test_quotas_in_nodes_stay_whole_nodes_when_scaled(folder: Path):
    (folder / "made.toml").write_text(
        FILE.replace("gpus = { a = 8, b = 8 }", "nodes = { a = 10, b = 1 }\nscale = 0.35"), encoding="utf-8"
    )
    setup = load_simulation(folder / "made.toml").setup
    assert [quota.min.gpu_milli for quota in setup.quotas[1:]] == [32_000, 8_000]


def test_rules_choose_by_seed_and_the_last_one_wins(folder: Path):
    rules = """
[[rules]]
priority = { 2 = 1, 3 = 1 }
[[rules]]
teams = "b"
priority = 7
idle = "only"
"""
    (folder / "made.toml").write_text(FILE + rules, encoding="utf-8")
    simulation = load_simulation(folder / "made.toml")
    made = [Workload(simulation.setup).submission(job) for job in simulation.trace.jobs]
    specs = [one.spec for one in made if isinstance(one, Submission)]
    assert [spec.priority in (2, 3) for spec in specs] == [True, True, False]
    assert (specs[2].priority, specs[2].idle.value) == (7, "only")


def test_every_field_baseline_and_column_is_described(monkeypatch: pytest.MonkeyPatch):
    """Each field the reader asks for stands in a code span of the reference."""
    asked: list[Table] = []
    real = Table.__init__

    def recording(self: Table, where: str, raw: object) -> None:
        real(self, where, raw)
        asked.append(self)

    monkeypatch.setattr(Table, "__init__", recording)
    for path in sorted((ROOT / "simulations").glob("*.toml")):
        load_simulation(path)
    simulation_jobs.read_rule(Table("made", {}))
    simulation_jobs.read_checkpoints(Table("made", {}))
    simulation_jobs.read_teams(Table("made", {}))
    simulation_file._node_like(Table("made", {}))
    in_scenario_files = {"self_level", "child_level", "strategy"}
    words = {word for span in re.findall(r"`([^`\n]+)`", REFERENCE) for word in re.findall(r"[\w-]+", span)}
    names = {name for table in asked for name in table._asked}
    known_elsewhere = {"high", "low", "scope"} | in_scenario_files
    described_there = "".join(
        (ROOT / f"docs/reference/{page}.md").read_text(encoding="utf-8") for page in ("scenario", "fields")
    )
    missing = [
        name
        for name in sorted(names - known_elsewhere)
        if name not in words and f"`{name}`" not in described_there
    ]
    assert missing == []
    for name in (*BASELINES, *JOB_COLUMNS, *SAMPLE_COLUMNS, *EVICTION_COLUMNS):
        assert name in words, name


@pytest.mark.parametrize("path", sorted((ROOT / "simulations").glob("*.toml")), ids=lambda path: path.stem)
def test_the_examples_can_be_read(path: Path):
    assert len(load_simulation(path).trace.jobs) == 1000


def test_the_how_to_shows_what_one_gets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    shutil.copytree(ROOT / "simulations", tmp_path / "simulations")
    monkeypatch.chdir(tmp_path)
    commands = shown(ROOT / "docs/how-to/try-a-policy.md")
    assert commands
    for command, expected in commands:
        output = CliRunner().invoke(main, command.split()[1:]).stdout
        assert contains_in_order(
            [line.rstrip() for line in output.splitlines()], [line.rstrip() for line in expected]
        )


def test_a_missing_file_is_said():
    with pytest.raises(ScenarioError, match="cannot be read"):
        load_simulation(Path("nowhere.toml"))


def test_ctrl_c_prints_what_there_is(folder: Path, monkeypatch: pytest.MonkeyPatch):
    play = Replay._instant
    instants = []
    before = signal.getsignal(signal.SIGINT)

    def interrupted_at_the_third(self: Replay, time_ms: int) -> None:
        instants.append(time_ms)
        if len(instants) == 3:
            signal.raise_signal(signal.SIGINT)
        play(self, time_ms)

    monkeypatch.setattr(Replay, "_instant", interrupted_at_the_third)
    result = call(folder / "made.toml", "--out", folder / "out")
    assert result.exit_code == 130, result.output
    assert len(instants) == 3
    assert "INCOMPLETE" in result.output
    assert (folder / "out/jobs.csv").is_file()
    assert "INCOMPLETE. " in (folder / "out/report.html").read_text(encoding="utf-8")
    assert signal.getsignal(signal.SIGINT) is before


# -- the report --------------------------------------------------------------------------------------------------


def written(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


def without_matplotlib(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.startswith(("matplotlib", "quotatree.sim.report."))]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "matplotlib", None)


def test_out_has_the_report_beside_the_tables(folder: Path):
    call(folder / "made.toml", "--out", folder / "out")
    names = ["evictions.csv", "jobs.csv", "metrics.json", "report.html", "timeline.csv"]
    assert written(folder / "out") == names
    text = (folder / "out/report.html").read_text(encoding="utf-8")
    assert "<h1>made</h1>" in text
    assert f"quotatree simulate {folder / 'made.toml'}" in text


def test_a_comparison_is_written_into_a_folder_of_its_own(folder: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(folder)
    (folder / "pool.toml").write_text('baseline = "pool-fifo"\n' + FILE, encoding="utf-8")
    result = call("--compare", "made.toml", "pool.toml", "--processes", 1)
    assert result.exit_code == 0, result.output
    assert "wrote quotatree-report/report.html" in result.stderr
    assert len(written(folder / "quotatree-report")) == 9
    page = (folder / "quotatree-report/report.html").read_text(encoding="utf-8")
    assert "quotatree simulate --compare made.toml pool.toml" in page
    again = call("--compare", "made.toml", "pool.toml", "--processes", 1)
    assert again.exit_code == 0, again.output  # its own files it may write anew
    assert (folder / "quotatree-report/report.html").read_text(encoding="utf-8") == page


def test_a_comparison_in_a_pipe_writes_nothing_unasked(folder: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(folder)
    before = written(folder)
    result = call("--compare", "made.toml", "-o", "json")
    assert json.loads(result.stdout)["schema"] == "quotatree.compare/1"
    assert written(folder) == before


def test_the_report_alone_goes_where_it_is_told(folder: Path):
    before = written(folder)
    result = call(folder / "made.toml", "--report", folder / "deep/page.html")
    assert result.exit_code == 0, result.output
    assert set(written(folder)) - set(before) == {"deep/page.html"}
    both = call(folder / "made.toml", "--report", folder / "page.html", "--out", folder / "out")
    assert both.exit_code == 0, both.output
    assert "report.html" not in written(folder / "out")
    assert (folder / "page.html").is_file()


@pytest.mark.parametrize("option", ["--report", "--out"])
def test_what_is_not_a_report_is_not_overwritten(folder: Path, option: str):
    (folder / "report.html").write_text("<h1>my thesis</h1>", encoding="utf-8")
    result = call(folder / "made.toml", option, folder / "report.html" if option == "--report" else folder)
    assert result.exit_code == 2
    assert "is not a report of quotatree" in result.output
    assert "wait mean" not in result.output  # said before the replay
    assert (folder / "report.html").read_text(encoding="utf-8") == "<h1>my thesis</h1>"


def test_a_report_that_cannot_be_written_is_said(folder: Path):
    assert "cannot be written: Is a directory" in call(folder / "made.toml", "--report", folder).output
    result = call(folder / "made.toml", "--report", folder / "jobs.csv/page.html")
    assert (result.exit_code, "cannot be written" in result.output) == (2, True)


def test_without_matplotlib_a_report_that_is_asked_for_is_refused(
    folder: Path, monkeypatch: pytest.MonkeyPatch
):
    without_matplotlib(monkeypatch)
    result = call(folder / "made.toml", "--report", folder / "page.html")
    assert result.exit_code == 2
    assert "pip install 'quotatree[report]'" in result.output
    assert "wait mean" not in result.output


def test_without_matplotlib_the_tables_are_written_all_the_same(
    folder: Path, monkeypatch: pytest.MonkeyPatch
):
    without_matplotlib(monkeypatch)
    result = call(folder / "made.toml", "--out", folder / "out")
    assert result.exit_code == 0, result.output
    assert "pip install 'quotatree[report]'" in result.stderr
    assert written(folder / "out") == ["evictions.csv", "jobs.csv", "metrics.json", "timeline.csv"]


def test_matplotlib_is_not_loaded_unless_there_is_a_report_to_draw(folder: Path):
    script = (
        "import sys\nfrom click.testing import CliRunner\nfrom quotatree.cli import main\n"
        "result = CliRunner().invoke(main, ['simulate', sys.argv[1]])\n"
        "assert result.exit_code == 0, result.output\n"
        "print(sorted(name for name in sys.modules if name in ('matplotlib', 'numpy')))\n"
    )
    told = subprocess.run(
        [sys.executable, "-c", script, str(folder / "made.toml")], check=True, capture_output=True, text=True
    )
    assert told.stdout.strip() == "[]"


def test_the_facts_of_a_file_are_told(folder: Path):
    more = """
each = { self_level = { high = "7-9", low = "1-4", modules = ["DLC"], scope = "own" } }
policies = { child_level = { priorities = "1-2", modules = ["DLC"] } }
[jobs]
idle = "allow"
[checkpoints]
interval = "1h"
pause = "5s"
"""
    (folder / "made.toml").write_text(FILE + more, encoding="utf-8")
    assert dict(load_simulation(folder / "made.toml").setup.facts) == {
        "trace": "jobs.csv, 3 jobs",
        "cluster": "16 GPUs on 2 nodes",
        "quotas": "3; GPUs: a 8, b 8",
        "policies": "child-level, may take 1-2 from below (1 quota); self-level, 7-9 may take 1-4, scope own (2 quotas)",
        "idle jobs": "allow",
        "checkpoints": "every 1h, 5s each",
        "seed": "1",
    }
