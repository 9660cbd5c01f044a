"""The image, built from the wheel of this release by the container engine that is here, and saved as one file."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
from pathlib import Path
from typing import Final

from release.sources import ROOT, CannotMake

ENGINE: Final = "CONTAINER_ENGINE"
"""Variable with the command of the engine and options that go before every word, such as `podman --runtime runc`."""
ARGUMENTS: Final = "IMAGE_ARGS"
"""Variable with options for its `build`, such as `--build-arg BASE=…`."""
ANSWER_SECONDS: Final = 20
BUILD_SECONDS: Final = 1800


def engine() -> list[str]:
    """The command of a container engine that works here; raises with what to do where there is none."""
    asked = shlex.split(os.environ.get(ENGINE, ""))
    for command in [asked] if asked else [["podman"], ["docker"]]:
        if shutil.which(command[0]) is None:
            continue
        try:
            done = subprocess.run(
                [*command, "info"], capture_output=True, timeout=ANSWER_SECONDS, check=False
            )
        except subprocess.TimeoutExpired:
            continue
        if done.returncode == 0:
            return command
    what = f"{shlex.join(asked)} does not work here" if asked else "neither podman nor docker works here"
    raise CannotMake(f"{what}: install one, or name yours in {ENGINE}")


def build(name: str, target: Path) -> Path:
    """Build the image with this name and save it in the file; dist/ holds the wheel that goes in."""
    command = engine()
    options = shlex.split(os.environ.get(ARGUMENTS, ""))
    _run([*command, "build", *options, "-f", "deploy/Dockerfile", "-t", name, "."], "be built")
    target.unlink(missing_ok=True)
    _run([*command, "save", "-o", str(target), name], "be saved")
    return target


def _run(command: list[str], what: str) -> None:
    try:
        done = subprocess.run(
            command, cwd=ROOT, capture_output=True, text=True, timeout=BUILD_SECONDS, check=False
        )
    except subprocess.TimeoutExpired:
        raise CannotMake(f"the image cannot {what} within {BUILD_SECONDS} s") from None
    if done.returncode:
        raise CannotMake(f"the image cannot {what}:\n{done.stdout[-3000:]}{done.stderr[-3000:]}")
