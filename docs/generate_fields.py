"""Writes docs/reference/fields.md and the schema of the resource Quota from the tables of fields: run it after a change there.

    .venv/bin/python -m docs.generate_fields

A new kind of value needs a line in SCHEMAS; a new field of a known kind needs nothing. tests/docs fails when a file is
not up to date.
"""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from quotatree.access.roles import Action
from quotatree.api.models.noun_fields import SHOWN
from quotatree.core import (
    JOB_FIELDS,
    JOB_SETTINGS,
    QUOTA_FIELDS,
    QUOTA_SETTINGS,
    Changed,
    NounField,
    ValueKind,
)
from quotatree.kubernetes_edge.resources import resource_word
from quotatree.manifest.quota_settings import DEFAULTS

ROOT: Final = Path(__file__).resolve().parent.parent
PAGE: Final = ROOT / "docs/reference/fields.md"
CRD: Final = ROOT / "src/quotatree/kubernetes_edge/crds/quotas.yaml"
MANIFESTS: Final = ROOT / "deploy/manifests/quotatree.yaml"

HEAD: Final = """\
# Fields

This page is written by `docs/generate_fields.py` from the tables that every part of QuotaTree reads: a field has the
same name in requests and answers of the [API](api.md), in files for [`apply`](cli.md), in [stories](scenario.md), in
[simulations](simulation.md) and in the history. A [resource of Kubernetes](kubernetes-objects.md) writes it in its own
spelling. Who has which right is told by [roles](roles.md); how to add a field, by
[CONTRIBUTING](../../CONTRIBUTING.md#how-to-add-a-setting).

Amounts are tables such as `{gpus: 8, cpu: 64, memory: 512Gi}`, durations texts such as `1h30m`, labels tables such as
`{team: red}`.

## Fields of a quota

`null` in a request takes a setting away: its default holds again.

| field | resource | holds | default | meaning | changed |
|---|---|---|---|---|---|
"""

CHANGED: Final[Mapping[Changed, str]] = {
    Changed.NEVER: "never",
    Changed.WAITING: f"while it waits, by `{Action.SET_PRIORITY.value}`",
    Changed.RESIZE: f"at any time, by `{Action.RESIZE_JOB.value}`",
    Changed.SCALING: f"at any time, by `{Action.SCALE_QUOTA.value}`",
    Changed.UPDATE: f"at any time, by `{Action.UPDATE_QUOTA.value}`",
}
"""When a field may be changed, and with which right."""
JOB_HEAD: Final = """
## Fields of a job

A request also says `name`, `on_hold`, `autoscale` and `program`: how to find the job, whether it waits for its
release, what a service's replicas follow, and what the engine runs. The planner does not look at these.

| field | holds | default | meaning | changed |
|---|---|---|---|---|
"""

START: Final = "                # Written by docs/generate_fields.py, up to admins; do not edit.\n"
END: Final = "                admins:\n"
POLICIES: Final = (ValueKind.STRATEGY, ValueKind.SELF_LEVEL, ValueKind.CHILD_LEVEL)
"""Settings whose schema is written by hand: their parts are checked against each other."""
SCHEMAS: Final[Mapping[ValueKind, str]] = {
    ValueKind.FLAG: "{type: boolean}",
    ValueKind.GPUS: "{type: number, minimum: 0, maximum: 1000000}",
    ValueKind.DURATION: "{type: string, pattern: '^([0-9]{1,9}(\\.[0-9]{1,3})?(ms|s|m|h|d))+$', maxLength: 32}",
    ValueKind.RESOURCES: "*amounts",
    ValueKind.BOUNDS: "*amounts",
    ValueKind.TITLE: "{type: string, maxLength: 253}",
    ValueKind.TEXT: "{type: string, maxLength: 1000}",
    ValueKind.LABELS: """\

  type: object
  maxProperties: 50
  additionalProperties: {type: string, maxLength: 253}
  x-kubernetes-validations:
    - rule: "!('quotatree.io/owned-by' in self)"
      message: "labels: quotatree.io/owned-by is set by the server (E6)\"""",
}


def page() -> str:
    rows = [
        f"| `{one.name}` | {_resource(one)} | {one.kind.value} | {_default(one)} "
        f"| {one.meaning} ({one.rule}) | {CHANGED[one.changed]} |\n"
        for one in QUOTA_FIELDS
    ]
    jobs = [
        f"| `{one.name}` | {_holds(one)} | {_job_default(one)} | {one.meaning} ({one.rule}) "
        f"| {CHANGED[one.changed]} |\n"
        for one in JOB_FIELDS
    ]
    return HEAD + "".join(rows) + JOB_HEAD + "".join(jobs)


def _holds(one: NounField) -> str:
    if one.kind is not ValueKind.CHOICE:
        return str(one.kind.value)
    return ", ".join(f"`{word.value}`" for word in type(one.default))


def _job_default(one: NounField) -> str:
    if one not in JOB_SETTINGS:
        return "required"
    return one.unset if one.optional else f"`{_word(SHOWN[one.kind].show(one.default))}`"


def _resource(one: NounField) -> str:
    return "`metadata.name`" if one.name == "id" else f"`{resource_word(one.name)}`"


def _default(one: NounField) -> str:
    """Return the default as a file writes it; of what is not a setting, and of what is empty, in words."""
    value = DEFAULTS.get(one.name)
    if value is None or value in ("", {}):
        return one.unset
    return f"`{_word(value)}`"


def _word(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def with_settings(text: str) -> str:
    """Return a definition of the resource with the schema of the settings of today."""
    before, _, rest = text.partition(START)
    _, _, after = rest.partition(END)
    return before + START + _schema() + END + after


def _schema() -> str:
    lines = [
        f"{resource_word(one.name)}: {SCHEMAS[one.kind]}".replace(": \n", ":\n")
        for one in QUOTA_SETTINGS
        if one.kind not in POLICIES
    ]
    return textwrap.indent("\n".join(lines) + "\n", " " * 16)


def main() -> None:
    PAGE.write_text(page(), encoding="utf-8")
    for file in (CRD, MANIFESTS):
        file.write_text(with_settings(file.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main()
