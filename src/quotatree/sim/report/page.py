"""What does the report look like? One HTML file that needs nothing else: no network, no script, no font.

The same results give the same bytes. `command` is what the reader can type to get it again.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from quotatree import __version__
from quotatree.sim.report.look import CSS
from quotatree.sim.report.markup import Html, bullets, joined, tag, text
from quotatree.sim.report.plots import PLOTS, Plot, svg
from quotatree.sim.report.tables import facts_table, group_table, safety_table, span_text, summary_table
from quotatree.sim.result import SimResult

GENERATOR: Final = "quotatree simulate"
"""The command line recognises a report that it may overwrite by this."""
REFUSALS_SHOWN: Final = 10
ROWS_OPEN: Final = 40
"""Tables with more rows than this are folded."""


def report_html(results: Sequence[SimResult], command: str = "") -> str:
    """The page for one run, or for several, in the order given. `command` is shown as the way to get it again."""
    title = results[0].title if len(results) == 1 else f"{len(results)} policies compared"
    sections = [
        ("runs", "What was run", facts_table(results)),
        ("summary", "Summary", joined([_reading(results), summary_table(results)])),
        *((plot.name, plot.title, _plotted(plot, results)) for plot in PLOTS),
        *_group_sections(results),
        ("notes", "What was left out or refused", _notes(results)),
        ("made", "How this was made", _made(results, command)),
    ]
    contents = tag("nav", *(tag("a", text(name), href=f"#{place}") for place, name, _ in sections))
    body = [
        tag("h1", text(title)),
        tag("p", text(_subtitle(results)), class_="subtitle"),
        *_incomplete(results),
        contents,
        *(tag("section", tag("h2", text(name)), inside, id=place) for place, name, inside in sections),
    ]
    head = joined(
        [
            Html('<meta charset="utf-8">'),
            Html('<meta name="viewport" content="width=device-width, initial-scale=1">'),
            Html(f'<meta name="generator" content="{GENERATOR}">'),
            # Nothing may be loaded or run, whatever stands in a name.
            Html(
                "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">"
            ),
            tag("title", text(f"{title} - QuotaTree")),
            tag("style", Html(CSS)),
        ]
    )
    return f'<!DOCTYPE html>\n<html lang="en">\n<head>\n{head}\n</head>\n<body>\n{tag("main", joined(body))}\n</body>\n</html>\n'


def _subtitle(results: Sequence[SimResult]) -> str:
    sources = list(dict.fromkeys(result.source for result in results))
    runs = ", ".join(result.name for result in results)
    return f"{runs}. Trace: {'; '.join(sources)}."


def _incomplete(results: Sequence[SimResult]) -> list[Html]:
    cut = [result for result in results if not result.complete]
    if not cut:
        return []
    told = "; ".join(
        f"{one.name} ended after {span_text(one.metrics.cluster.hours * 3600)} of the trace's time "
        f"with {one.metrics.overall.unfinished:,} of {one.metrics.overall.jobs:,} submitted jobs not over"
        for one in cut
    )
    return [
        tag(
            "p",
            tag("strong", text("INCOMPLETE. ")),
            text(
                f"{told}. The numbers of a run that was cut short are of what happened until then, and none of them is marked best."
            ),
            class_="warning",
            role="alert",
        )
    ]


def _reading(results: Sequence[SimResult]) -> Html:
    if len(results) == 1:
        return tag("p", text("What each number means, and which direction is better, stands below its name."))
    return tag(
        "p",
        text(
            f"The best of each line is marked; the small figures are the change against {results[0].name}. "
            "Measured on the same trace, so differences come from the policies."
            if len({(one.source, dict(one.facts).get("trace")) for one in results}) == 1
            else "The best of each line is marked. The runs replay different traces: compare with care."
        ),
    )


def _plotted(plot: Plot, results: Sequence[SimResult]) -> Html:
    drawn = svg(plot, results)
    if drawn is None:
        return tag("p", text(plot.absent))
    caption = tag("figcaption", text(plot.says))
    return tag("figure", caption, tag("div", _inline(drawn, plot), class_="card"))


def _inline(drawn: str, plot: Plot) -> Html:
    """The `svg` element alone, as wide as the page allows."""
    inside = drawn[drawn.index("<svg") :]
    opening, _, rest = inside.partition(">")
    box = opening.partition('viewBox="')[2].partition('"')[0]
    body = rest.replace('<style type="text/css">*{stroke-linejoin: round; stroke-linecap: butt}</style>', "")
    return Html(
        f'<svg role="img" aria-label="{text(plot.title)}" viewBox="{box}" xmlns:xlink="http://www.w3.org/1999/xlink">{body}'
    )


def _group_sections(results: Sequence[SimResult]) -> list[tuple[str, str, Html]]:
    found = [
        ("teams", "By team", _folded(group_table("team", "by_team", results))),
        ("modules", "By module", _folded(group_table("module", "by_module", results))),
        ("priorities", "By priority", _folded(group_table("priority", "by_priority", results))),
    ]
    if any(result.metrics.safety for result in results):
        found.append(("private", "Each team here and alone", _folded(safety_table(results))))
    return found


def _folded(shown: Html) -> Html:
    rows = shown.count("<tr")
    if rows <= ROWS_OPEN:
        return shown
    return tag("details", tag("summary", text(f"{rows - 1} lines")), shown)


def _notes(results: Sequence[SimResult]) -> Html:
    found = []
    for result in results:
        items = [f"Skipped {note}" for note in result.skipped]
        items += [f"Left out {count:,} jobs: {why}" for why, count in result.left_out]
        shown = result.refusals[:REFUSALS_SHOWN]
        items += [f"Refused {one.what} at {span_text(one.time_ms / 1000)}: {one.why}" for one in shown]
        if len(result.refusals) > len(shown):
            items.append(f"Refused {len(result.refusals) - len(shown):,} more; metrics.json has them all")
        if items:
            found += [tag("h3", text(result.name)), bullets(items)]
    return (
        joined(found)
        if found
        else tag("p", text("Nothing: every job of the trace was submitted and accepted."))
    )


def _made(results: Sequence[SimResult], command: str) -> Html:
    seeds = list(dict.fromkeys(dict(result.facts).get("seed", "") for result in results))
    told = [
        f"QuotaTree {__version__}, seed {', '.join(seeds)}." if any(seeds) else f"QuotaTree {__version__}."
    ]
    told.append(
        "The jobs are replayed through the scheduler's own core with a virtual clock; the same files give the same report. "
        "Other schedulers are models of their rule and labelled so."
    )
    parts = [tag("p", text(" ".join(told)))]
    if command:
        parts.append(tag("pre", text(command)))
    return joined(parts)
