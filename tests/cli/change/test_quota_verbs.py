"""`scale`, `transfer` and `return-loan` against a real server."""

from __future__ import annotations

from tests.cli.conftest import Cli, until


def test_scale_asks_before_it_evicts(cli: Cli):
    job = cli.submit("--gpus", "8", "--grace", "0s")
    cli.wait_phase(job, "Running")
    try:
        assert "4 GPU" not in cli.run("scale", "vision", "4", "-y", status=1).stdout
        result = cli.run("scale", "vision", "4", "--mode", "reclaim", stdin="n\n", status=1)
        assert job in result.stdout
        assert cli.phase(job) == "Running"
        cli.run("scale", "vision", "4", "--mode", "reclaim", stdin="y\n")
        cli.wait_phase(job, "Waiting")
        assert cli.json("get", "quota", "vision")["min"] == {"gpus": 4}
    finally:
        cli.run("scale", "vision", "8", "-y")


def test_transfer_and_back(cli: Cli):
    cli.run("transfer", "speech", "vision", "3")
    assert cli.json("get", "quota", "vision")["min"] == {"gpus": 11}
    cli.run("transfer", "vision", "speech", "3")
    assert cli.json("get", "quota", "vision")["min"] == {"gpus": 8}


def test_a_loan_is_returned_by_hand(cli: Cli):
    """P3, P15: vision takes what speech leaves unused, and gives it back when its admin says so."""
    policy = "self_level: {high: 6-9, low: 1-5, modules: [DLC], scope: level}\n"
    before = cli.run("policies", "show", "vision").stdout
    cli.run("policies", "set", "vision", "-f", cli.file("loan.yaml", policy))
    try:
        own = cli.submit("--gpus", "8", "--priority", "1", "--grace", "0s")
        cli.wait_phase(own, "Running")
        borrower = cli.submit("--gpus", "8", "--priority", "7", "--grace", "0s", "--requeue")
        cli.wait_phase(borrower, "Running")
        assert cli.json("get", "quota", "vision")["usage"]["loan"]["gpus"] == 8
        cli.run("return-loan", "vision", user="ann", status=4)
        assert "no answer" in cli.run("return-loan", "vision", status=1).stderr
        assert cli.phase(own) == cli.phase(borrower) == "Running"
        assert "goes back to its min" in cli.run("return-loan", "vision", "-y").stdout
        until(
            lambda: (
                "Running" in {cli.phase(own), cli.phase(borrower)} and cli.phase(own) != cli.phase(borrower)
            )
        )
        assert cli.json("get", "quota", "vision")["usage"]["loan"]["gpus"] == 0
    finally:
        cli.run("policies", "set", "vision", "-f", cli.file("before.yaml", before))
