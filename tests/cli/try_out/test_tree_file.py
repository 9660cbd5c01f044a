"""`tree` on a file."""

from tests.cli.try_out.story import run, run_json


def test_tree_draws_bars(world: str):
    result = run("tree", world, "--at", "0s")
    assert result.exit_code == 0
    assert "└─ team  " in result.output
    assert "8 of 8" in result.output
    assert "█" in result.output


def test_tree_json(world: str):
    told = run_json("tree", world, "--at", "0s")
    assert told["schema"] == "quotatree.tree/1"
    shop, team = told["quotas"]
    assert (shop["id"], shop["parent"], team["id"], team["parent"]) == ("shop", None, "team", "shop")
    assert team["used_own"] == {"gpu_milli": 8000, "cpu_milli": 0, "memory_mib": 0}
    assert team["desired"] == {"gpu_milli": 8000, "cpu_milli": None, "memory_mib": None}
    assert shop["used_below"]["gpu_milli"] == 8000
