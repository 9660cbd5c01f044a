"""Which metrics and labels does an expression of PromQL ask for? Enough of a reader for our own dashboard and rules.

It does not judge grammar; it refuses words that it does not know, so nothing it has not understood passes.
"""

from __future__ import annotations

import re

from tests.docs.exposition import Family

WORDS = frozenset(
    [
        "sum",
        "max",
        "min",
        "avg",
        "count",
        "by",
        "without",
        "on",
        "ignoring",
        "group_left",
        "group_right",
        "and",
        "or",
        "unless",
        "offset",
        "bool",
        "rate",
        "increase",
        "histogram_quantile",
        "absent",
        "label_replace",
    ]
)
ADDED_BY_PROMETHEUS = frozenset({"instance", "job", "le"})
MATCHER = re.compile(r'(\w+)\s*(=~|!~|!=|=)\s*"([^"]*)"')
SELECTOR = re.compile(r"\b(quotatree_\w+)\s*(?:\{([^}]*)\})?")
GROUPING = re.compile(r"\b(by|on|without|ignoring|group_left|group_right)\s*\(([^)]*)\)")


def metrics_of(expression: str) -> list[str]:
    return [name for name, _ in SELECTOR.findall(expression)]


def values_asked(expression: str) -> list[tuple[str, str]]:
    """Each label with each value that it must or may have; variables of the dashboard are left out."""
    return [
        (label, value)
        for label, sign, text in MATCHER.findall(expression)
        for value in (text.split("|") if "~" in sign else [text])
        if value and "$" not in value
    ]


def unknown(expression: str, told: dict[str, Family]) -> list[str]:
    """What the expression asks for and the server does not tell, in words."""
    by_sample = {sample: family for family in told.values() for sample in family.samples}
    wrong = []
    known: set[str] = set(ADDED_BY_PROMETHEUS)
    for name, matchers in SELECTOR.findall(expression):
        if name not in by_sample:
            wrong.append(f"no metric {name}")
            return wrong
        known |= by_sample[name].labels
        asked = {label for label, _, _ in MATCHER.findall(matchers)}
        wrong += [
            f"{name} has no label {label}"
            for label in sorted(asked - by_sample[name].labels - ADDED_BY_PROMETHEUS)
        ]
    for _, labels in GROUPING.findall(expression):
        named = {label for label in labels.replace(" ", "").split(",") if label}
        wrong += [f"no metric here has the label {label}" for label in sorted(named - known)]
    rest = GROUPING.sub(" ", SELECTOR.sub(" ", re.sub(r"\[[^\]]*\]", " ", expression)))
    strangers = sorted(set(re.findall(r"[A-Za-z_]\w*", rest)) - WORDS)
    return [*wrong, *(f"a word that is not known here: {word}" for word in strangers)]


def labels_left(expression: str, told: dict[str, Family]) -> set[str]:
    """The labels that the result has: those it is summed by, or all of its metrics if it is not summed."""
    sums = re.findall(r"\b(?:sum|max|min|avg)\b\s*(?:by\s*\(([^)]*)\))?", expression)
    if sums:
        return {label for labels in sums for label in labels.replace(" ", "").split(",") if label}
    found = set(ADDED_BY_PROMETHEUS)
    for name in metrics_of(expression):
        found |= next((family.labels for family in told.values() if name in family.samples), frozenset())
    return found
