"""A small story to try the commands on, and the commands as one calls them."""

import json
from typing import Any

from click.testing import CliRunner, Result

from quotatree.cli import main

WORLD = """
title = "batch and production"

[[nodes]]
name_prefix = "n"
count = 2

[[quotas]]
id = "shop"
gpus = 16

[[quotas]]
id = "team"
parent = "shop"
gpus = 8
self_level = { high = 9, low = "1-3", modules = ["DLC"], scope = "own" }

[[running]]
id = "batch"
quota = "team"
gpus = 8
started = "-1h"
checkpoint = "-5m"
place = ["n0:0-7"]

[[waiting]]
id = "humble"
quota = "team"
gpus = 8

[[preview]]
id = "would-be"
quota = "team"
priority = 9
gpus = 8

[[at]]
time = "1m"
submit = { id = "production", quota = "team", priority = 9, gpus = 4 }

[[expect]]
time = "1m"
evict = ["batch"]
"""


def run(*arguments: str) -> Result:
    return CliRunner().invoke(main, list(arguments))


def run_json(*arguments: str) -> Any:
    result = run(*arguments, "-o", "json")
    assert result.exit_code == 0, result.output
    return json.loads(result.output)
