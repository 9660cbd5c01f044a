"""What does the dashboard of Grafana ask Prometheus, panel by panel, once its variables have values?"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

DASHBOARD: Final = Path(__file__).resolve().parents[2] / "deploy" / "grafana" / "quotatree.json"
# All quotas, their GPUs, and a span for rates that suits a scrape each second.
VARIABLES: Final = {"quota": ".*", "resource": "gpu", "__rate_interval": "10s"}


@dataclass(frozen=True)
class Query:
    expression: str
    legend: str

    def name(self, labels: Mapping[str, str]) -> str:
        """What the legend calls a series with these labels."""
        return re.sub(r"\{\{(\w+)\}\}", lambda found: labels.get(found[1], ""), self.legend)


@dataclass(frozen=True)
class Panel:
    """`x`, `y`, `width` and `height` are cells of the grid, 24 in a row; `kind` is row, stat or timeseries."""

    title: str
    kind: str
    x: int
    y: int
    width: int
    height: int
    unit: str
    stacked: bool
    dashed: str
    steps: tuple[tuple[float, str], ...]
    queries: tuple[Query, ...]


def panels(variables: Mapping[str, str] = VARIABLES) -> list[Panel]:
    return [_panel(one, variables) for one in json.loads(DASHBOARD.read_text(encoding="utf-8"))["panels"]]


def _panel(given: Any, variables: Mapping[str, str]) -> Panel:
    at = given["gridPos"]
    config = given.get("fieldConfig", {"defaults": {}, "overrides": []})
    defaults = config["defaults"]
    return Panel(
        title=_filled(given["title"], {**variables, "quota": "All"}),
        kind=given["type"],
        x=at["x"],
        y=at["y"],
        width=at["w"],
        height=at["h"],
        unit=defaults.get("unit", "none"),
        stacked=defaults.get("custom", {}).get("stacking", {}).get("mode") == "normal",
        dashed=next((one["matcher"]["options"] for one in config["overrides"]), ""),
        steps=tuple(
            (step["value"] or 0, step["color"]) for step in defaults.get("thresholds", {}).get("steps", ())
        ),
        queries=tuple(
            Query(_filled(target["expr"], variables), target["legendFormat"])
            for target in given.get("targets", ())
        ),
    )


def _filled(text: str, variables: Mapping[str, str]) -> str:
    for name, value in variables.items():
        text = text.replace(f"${name}", value)
    return text
