"""How is a job submitted again? From a template that you keep, or as a job that the server knows.

Templates are job files in `quotatree/templates` of the configuration directory, beside the logins:
NAME.yaml.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from quotatree.cli.change.job_file import read_jobs
from quotatree.cli.contexts import config_file
from quotatree.cli.documents import yaml_text
from quotatree.cli.naming import job_id
from quotatree.cli.output import EXIT_BAD_INPUT, EXIT_NOT_FOUND, echo_lines, fail
from quotatree.client.types import JobIn

if TYPE_CHECKING:
    from quotatree.client import Client

NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,62}")


def template_jobs(name: str) -> list[Any]:
    """The jobs of a template. If there is none of this name, the command ends and names those that
    there are.
    """
    path = _path(name)
    if not path.exists():
        there = ", ".join(sorted(one.stem for one in path.parent.glob("*.yaml"))) or "none"
        fail(
            f"no template {name}; there are: {there}; --save-template NAME keeps a job as one", EXIT_NOT_FOUND
        )
    return read_jobs(path)


def save_template(name: str, jobs: list[Any]) -> None:
    """Keep the jobs as a template, which only you can read. Secrets are left out, and that is told."""
    path = _path(name)
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    kept = [_without_secrets(job) for job in jobs]
    part = path.with_name(f"{path.name}.{os.getpid()}.part")
    descriptor = os.open(part, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(yaml_text(kept[0] if len(kept) == 1 else {"jobs": kept}))
    part.replace(path)
    echo_lines([f"kept in {path}; quotatree submit --template {name} submits it"])


def job_again(client: Client, text: str) -> dict[str, Any]:
    """A job as it was submitted, to be submitted once more. Its secrets are not known any more, and
    that is told.
    """
    known: Any = client.jobs.get(job_id(client, text))
    fields = {name: known[name] for name in JobIn.__annotations__ if known.get(name) is not None}
    return _without_secrets(fields)


def _without_secrets(job: dict[str, Any]) -> dict[str, Any]:
    program = job.get("program") or {}
    if not program.get("secrets"):
        return job
    options = " ".join(f"--secret {name}" for name in program["secrets"])
    click.echo(f"note: secrets are not repeated: add {options}", err=True)
    return {**job, "program": {name: value for name, value in program.items() if name != "secrets"}}


def _path(name: str) -> Path:
    if not NAME.fullmatch(name):
        fail(f"template {name}: must be letters, digits and . _ -; a file is read by -f", EXIT_BAD_INPUT)
    return config_file().parent / "templates" / f"{name}.yaml"
