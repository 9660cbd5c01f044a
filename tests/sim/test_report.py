"""The HTML report: everything is in it, it says what metrics.json says, and nothing in a name can break it."""

import os
import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from quotatree.core.reasons import Code
from quotatree.sim.export import as_json
from quotatree.sim.outcome import Taken
from quotatree.sim.report import page, preemptions, waits
from quotatree.sim.report.allocation import layers_of
from quotatree.sim.report.page import report_html
from quotatree.sim.report.plots import PLOTS, svg, write_plot
from quotatree.sim.report.safety import TEAMS_SHOWN, quotas_shown
from quotatree.sim.report.style import TimeScale
from quotatree.sim.report.tables import best_of, span_text
from quotatree.sim.result import SimResult, conclude, prepare
from quotatree.sim.setup import Setup
from quotatree.sim.summary import MEASURES
from tests.sim.made import HOUR, child, job, nodes, one_quota, root, run, takes, trace, two_teams

# Where the value of each measure stands in metrics.json.
PLACES = {
    "jobs done": "overall.done",
    "wait mean": "overall.wait.mean_s",
    "wait p50": "overall.wait.p50_s",
    "wait p95": "overall.wait.p95_s",
    "wait p99": "overall.wait.p99_s",
    "completion mean": "overall.completion.mean_s",
    "high-priority start": "cluster.high_priority_start.mean_s",
    "allocation": "cluster.allocation",
    "while jobs wait": "cluster.contended_allocation",
    "utilisation": "cluster.utilisation",
    "fragmentation": "cluster.fragmentation",
    "evictions": "overall.evictions",
    "per start": "overall.evictions_per_start",
    "jobs evicted": "overall.evicted_share",
    "lost GPU-h": "overall.lost_gpu_hours",
    "useful GPU-h": "overall.useful_gpu_hours",
    "fairness": "cluster.fairness",
    "teams safe": "cluster.teams_safe",
    "fruitless": "cluster.fruitless_evictions",
}
JOBS = (
    job("low", 0, 3600, 8, priority=1),
    job("other", 0, 600, 4, "b", priority=2),
    job("urgent", 60, 600, 8, priority=9),
    job("late", 90, 300, 4, "b", priority=2),
)


COMMAND = "quotatree simulate --compare calm.toml harsh.toml"


class Page(HTMLParser):
    """The rows of the tables, as (class of the table, cells); a cell is (text, attributes)."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.rows: list[tuple[str, list[tuple[str, dict[str, str | None]]]]] = []
        self.headings: list[str] = []
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self._table = ""
        self._open: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        self.elements.append((tag, found))
        self._open.append(tag)
        if tag == "table":
            self._table = found.get("class") or ""
        elif tag == "tr":
            self.rows.append((self._table, []))
        elif tag in ("td", "th"):
            self.rows[-1][1].append(("", found))
        elif tag == "h2":
            self.headings.append("")

    def handle_endtag(self, tag: str) -> None:
        while self._open.pop() != tag:
            pass

    def handle_data(self, data: str) -> None:
        if "td" in self._open or "th" in self._open:
            text, attributes = self.rows[-1][1][-1]
            self.rows[-1][1][-1] = (text + data, attributes)
        elif "h2" in self._open:
            self.headings[-1] += data

    def table(self, name: str) -> list[list[tuple[str, dict[str, str | None]]]]:
        return [cells for table, cells in self.rows if table == name]


@pytest.fixture(scope="module")
def compared() -> list[SimResult]:
    """Nobody shares, or urgent work takes: one eviction, and the private clusters beside it."""
    calm = two_teams(8, name="calm", title="Nobody takes", private_clusters=True, facts=(("seed", "1"),))
    harsh = two_teams(
        8,
        name="harsh",
        title="Urgent takes",
        self_level=takes(),
        private_clusters=True,
        facts=(("seed", "2"),),
    )
    return [run(calm, *JOBS), run(harsh, *JOBS)]


@pytest.fixture(scope="module")
def page_text(compared: list[SimResult]) -> str:
    """Drawn once: the plots take a second."""
    return report_html(compared, COMMAND)


@pytest.fixture
def undrawn(monkeypatch: pytest.MonkeyPatch) -> None:
    """For what stands in the text of a page: its plots are left empty."""
    monkeypatch.setattr(page, "svg", lambda plot, results: '<svg viewBox="0 0 1 1"></svg>')


def at(value: Any, path: str) -> Any:
    for name in path.split("."):
        value = value[name]
    return value


def never_over() -> SimResult:
    """Interrupted before anything happened."""
    setup, jobs = one_quota(name="cut"), trace(job("x", 0, 60))
    replay = prepare(setup, jobs)
    replay.stop()
    replay.run()
    return conclude(setup, jobs, replay)


# -- what is in it -----------------------------------------------------------------------------------------------


def test_every_section_and_every_run_is_there(compared: list[SimResult], page_text: str):
    shown = Page(page_text)
    assert shown.headings == [
        "What was run", "Summary", "Allocation over time", "Waits", "Evictions and lost work by priority",
        "Per-team safety", "Timeline of preemptions", "By team", "By module", "By priority",
        "Each team here and alone", "What was left out or refused", "How this was made",
    ]  # fmt: skip
    assert [cell for cell, _ in shown.table("summary")[0]] == ["metric", "calm", "harsh"]
    assert COMMAND in page_text
    assert sum(1 for tag, _ in shown.elements if tag == "svg") == len(PLOTS) == 5
    for plot in PLOTS:
        drawn = svg(plot, compared)
        assert drawn is not None
        assert all(f"{name}" in drawn for name in ("calm", "harsh")), plot.name
    links = {found["href"] for tag, found in shown.elements if tag == "a"}
    assert links == {f"#{found['id']}" for tag, found in shown.elements if tag == "section"}


def test_the_summary_says_what_metrics_json_says(compared: list[SimResult], page_text: str):
    rows = Page(page_text).table("summary")[1:]
    assert [row[0][0].split(" ↓")[0].split(" ↑")[0] for row in rows] == list(PLACES)
    for row, place in zip(rows, PLACES.values(), strict=True):
        for cell, result in zip(row[1:], compared, strict=True):
            value = at(as_json(result), place)
            assert cell[1].get("data-value") == (None if value is None else str(value)), place


def test_what_differs_is_told_apart_and_what_does_not_once(page_text: str):
    rows = {row[0][0]: row[1:] for row in Page(page_text).table("facts")}
    assert [cell for cell, _ in rows["title"]] == ["Nobody takes", "Urgent takes"]
    assert [cell for cell, _ in rows["seed"]] == ["1", "2"]
    assert [(cell, found["colspan"]) for cell, found in rows["who decides"]] == [("QuotaTree", "2")]


def test_the_best_of_a_line_is_marked_and_equals_are_equal(page_text: str):
    """harsh lets urgent start after 30 s of grace instead of an hour, at the price of an eviction."""
    rows = {row[0][0].split(" ↓")[0]: row[1:] for row in Page(page_text).table("summary")[1:]}

    def best(name: str) -> list[bool]:
        return ["best" in (found.get("class") or "") for _, found in rows[name]]

    assert best("high-priority start") == [False, True]
    assert best("evictions") == [True, False]
    assert best("fruitless") == [False, False]
    assert "−99.2 %" in rows["high-priority start"][1][0]  # 30 s instead of 3,540


@pytest.mark.usefixtures("undrawn")
def test_a_run_that_was_cut_short_is_never_best(compared: list[SimResult]):
    measure = next(measure for measure in MEASURES if measure.name == "evictions")
    assert best_of(measure, compared) == {"0"}
    cut = [replace(compared[0], complete=False), compared[1]]
    assert best_of(measure, cut) == frozenset()
    text = report_html(cut)
    assert "INCOMPLETE. </strong>calm ended after" in text
    assert "INCOMPLETE" not in report_html(compared)


def test_groups_and_safety_are_told_run_by_run(page_text: str):
    rows = Page(page_text).table("groups")
    cells = [[cell for cell, _ in row] for row in rows]
    assert ["a", "calm", "2", "2", "29.5 min"] in [row[:5] for row in cells]  # 0 and 3,540 s
    assert ["a", "calm", "8", "2", "29.5 min", "29.5 min", "yes"] in cells
    assert [row for row in cells if row[:1] == ["9"]]


@pytest.mark.usefixtures("undrawn")
def test_what_was_left_out_and_refused_is_told():
    large = job("large", 5, 60, 16)
    result = run(two_teams(8), job("x", 0, 60), large, job("lost", 6, 60, team="nobody"))
    assert result.refusals
    assert result.left_out
    text = report_html([result])
    assert "Left out 1 jobs: " in text
    assert "Refused " in text
    many = replace(result, refusals=result.refusals * 15, skipped=("3 rows: no GPUs",))
    text = report_html([many])
    assert "Refused 5 more; metrics.json has them all" in text
    assert "Skipped 3 rows: no GPUs" in text


@pytest.mark.parametrize(
    ("seconds", "told"), [(0, "0.0 s"), (89, "89.0 s"), (90, "1.5 min"), (5400, "1.5 h"), (172_800, "2.0 d")]
)
def test_times_are_told_in_the_unit_one_would_use(seconds: float, told: str):
    assert span_text(seconds) == told


# -- the same bytes, alone, and safe -----------------------------------------------------------------------------


def test_the_same_results_give_the_same_bytes_in_any_process():
    script = (
        "from tests.sim.made import *\n"
        "from quotatree.sim.report.page import report_html\n"
        "from tests.sim.test_report import JOBS\n"
        "import hashlib\n"
        "result = run(two_teams(8, self_level=takes(), private_clusters=True), *JOBS)\n"
        "page = report_html([result])\n"
        "assert page == report_html([result])\n"
        "print(hashlib.sha256(page.encode()).hexdigest())\n"
    )
    at_work = [
        subprocess.Popen(
            [sys.executable, "-c", script], stdout=subprocess.PIPE, text=True,
            cwd=Path(__file__).resolve().parents[2], env={**os.environ, "PYTHONHASHSEED": seed},
        )
        for seed in ("1", "2")
    ]  # fmt: skip
    told = [process.communicate()[0] for process in at_work]
    assert [process.returncode for process in at_work] == [0, 0]
    assert told[0] == told[1]


def test_it_needs_nothing_from_elsewhere(page_text: str):
    elements = Page(page_text).elements
    assert not {tag for tag, _ in elements} & {"script", "link", "img", "iframe", "object", "embed", "base"}
    for _, found in elements:
        for name in ("href", "xlink:href", "src"):
            assert (found.get(name) or "#").startswith("#")
    assert not re.search(r"url\((?!#)|@import|<metadata|<!ENTITY", page_text)
    assert set(re.findall(r'https?://[^"\s<]+', page_text)) == {"http://www.w3.org/1999/xlink"}
    assert "default-src 'none'" in page_text


def test_names_cannot_break_the_page():
    """Markup, mathematics, what a legend would hide, and letters the font does not have."""
    evil = "<script>alert('x')</script>"
    names = (evil, "$\\frac{1}$", "_hidden", "视觉", 'a"b&c')
    quotas = (root(40), *(child(name, 8) for name in names))
    setup = Setup(evil, nodes(*[8] * 5), quotas, title=evil, facts=((evil, evil),), sample_ms=10_000)
    result = run(setup, *(job(f"j{number}", number, 60, team=name) for number, name in enumerate(names)))
    text = report_html([result], evil)
    assert "<script" not in text
    assert "&lt;script&gt;alert(" in text
    assert not [tag for tag, found in Page(text).elements if any(name.startswith("on") for name in found)]
    drawn = svg(PLOTS[0], [result])
    assert drawn is not None
    shown = {element.text for element in ET.fromstring(drawn).iter() if element.tag.endswith("}text")}
    assert {"$\\frac{1}$", " _hidden", "视觉", 'a"b&c'} <= shown


# -- little to show ----------------------------------------------------------------------------------------------


def test_nothing_evicted_and_nobody_compared_is_said():
    text = report_html([run(one_quota(), job("only", 0, 60, priority=1))])
    assert text.count("No run evicted anything.") == 2
    assert "No run was compared with private clusters" in text
    assert "no such job started" in text  # none is urgent
    assert "Nothing: every job of the trace was submitted and accepted." in text
    assert "best</span>" not in text


def test_a_run_stopped_at_once_still_has_a_report(compared: list[SimResult]):
    result = never_over()
    assert (result.complete, result.jobs) == (False, ())
    for results in ([result], [result, *compared]):
        text = report_html(results)
        assert "INCOMPLETE. </strong>cut ended after 0.0 s" in text


def test_one_run_with_evictions_beside_one_without(compared: list[SimResult]):
    drawn = svg(next(plot for plot in PLOTS if plot.name == "preemptions"), compared)
    assert drawn is not None
    assert "calm: nothing taken" in drawn
    assert "harsh: 1 taken, 8 GPUs in all" in drawn
    assert "SelfLevelOwn" in drawn


# -- much to show ------------------------------------------------------------------------------------------------


def test_many_quotas_become_nine_and_the_rest():
    names = [f"t{number:02d}" for number in range(12)]
    setup = Setup("many", nodes(*[8] * 12), (root(96), *(child(name, 8) for name in names)), sample_ms=10_000)
    jobs = [job(f"j{number}", 0, 100 + 60 * number, team=name) for number, name in enumerate(names)]
    layers = layers_of([run(setup, *jobs)])
    assert [layer.name for layer in layers] == [
        *(f"t{number:02d}" for number in range(11, 2, -1)),
        "3 others",
    ]
    assert layers[-1].owners == {"t00", "t01", "t02"}
    assert len({layer.colour for layer in layers}) == 10
    assert [layer.name for layer in layers_of([run(setup, *jobs[:10])])][-1] == "t00"


def test_teams_that_share_a_quota_are_one_layer():
    setup = two_teams(8, teams=(("x", "a"), ("y", "a"), ("z", "b")))
    result = run(setup, job("1", 0, 60, 4, "x"), job("2", 0, 60, 4, "y"), job("3", 0, 30, 4, "z"))
    assert [(layer.name, layer.owners) for layer in layers_of([result])] == [
        ("a", frozenset("a")),
        ("b", frozenset("b")),
    ]


def test_a_curve_of_few_waits_is_exact_and_of_many_short():
    times, shares = waits.cumulative([0.0, 0.5, 10.0, 10.0, 40.0])
    assert (times, shares) == ([1.0, 10.0, 40.0], [0.4, 0.8, 1.0])
    many = [float(number) for number in range(10_000)]
    times, shares = waits.cumulative(many)
    assert len(times) == waits.POINTS_WANTED
    assert (times[0], shares[0], times[-1], shares[-1]) == (1.0, 2 / 10_000, 9_999.0, 1.0)
    assert all(
        share == pytest.approx((int(time) + 1) / 10_000) for time, share in zip(times, shares, strict=True)
    )


def test_thousands_of_evictions_become_bars_with_all_their_gpus(compared: list[SimResult]):
    taken = tuple(
        Taken(
            number * 10_000, f"j{number}", "a", 1 + number % 9, 2_000, None, Code.IdleTakenBack, 0, 0, False
        )
        for number in range(20_000)
    )
    scale = TimeScale(HOUR, "hours", 0.0, 20_000 * 10 / 3_600)
    span_ms = preemptions.span_for(scale)
    assert span_ms == HOUR / 2  # 56 hours in at most 180 spans
    sums = preemptions.sums_of(taken, span_ms)
    assert sum(gpus for row in sums.values() for gpus in row.values()) == 40_000
    assert sums[1, "IdleTakenBack"][0] == 40  # every ninth of 180
    plot = next(plot for plot in PLOTS if plot.name == "preemptions")
    many = svg(plot, [replace(compared[1], taken=taken)])
    few = svg(plot, [replace(compared[1], taken=taken[:600])])
    assert many is not None
    assert few is not None
    assert "highest bar: " in many
    assert (many.count("<use"), few.count("<use")) < (200, 600)
    assert [preemptions.size_step(gpus) for gpus in (0.5, 1, 1.5, 8, 10_000)] == [1, 1, 2, 8, 512]


@pytest.mark.usefixtures("undrawn")
def test_of_many_teams_those_worst_off_are_plotted(compared: list[SimResult]):
    team = compared[0].metrics.safety[0]
    teams = tuple(
        replace(team, quota=f"t{number}", wait_mean_s=float(number), private_wait_mean_s=10.0)
        for number in range(40)
    )
    many = replace(compared[0], metrics=replace(compared[0].metrics, safety=teams))
    assert quotas_shown([many]) == [f"t{number}" for number in range(40 - TEAMS_SHOWN, 40)]
    assert "<details>" in report_html([many])  # 40 lines of a table are folded
    drawn = svg(next(plot for plot in PLOTS if plot.name == "safety"), [many])
    assert drawn is not None
    assert ">t39<" in drawn
    assert ">t0<" not in drawn


def test_ten_runs_fit_into_one_report(compared: list[SimResult]):
    ten = [replace(compared[number % 2], name=f"run{number}") for number in range(10)]
    text = report_html(ten)
    assert all(f">run{number}</th>" in text for number in range(10))


# -- one plot for a document -------------------------------------------------------------------------------------


def test_one_plot_can_be_written_as_a_file(compared: list[SimResult], tmp_path: Path):
    assert write_plot("waits", compared, tmp_path / "plots/waits.svg")
    drawn = (tmp_path / "plots/waits.svg").read_text(encoding="utf-8")
    assert ET.fromstring(drawn).tag == "{http://www.w3.org/2000/svg}svg"
    assert "all jobs that started: time waited in all" in drawn
    assert not write_plot("evictions", compared[:1], tmp_path / "none.svg")
    assert not (tmp_path / "none.svg").exists()
