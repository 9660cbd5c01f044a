"""`preview` against a real server: what would happen, and nothing does."""

from __future__ import annotations

from tests.cli.conftest import Cli


def test_preview_changes_nothing(cli: Cli):
    job = cli.submit("--gpus", "8", "--priority", "1", "--name", "big")
    cli.wait_phase(job, "Running")
    path = cli.file("job.toml", 'workspace = "vision"\nquota = "vision"\ngpus = 8\n')
    text = cli.run("preview", "--submit", path, user="ann").stdout
    assert "wait " in text
    seen = cli.json("preview", "--scale", "vision=4:reclaim")
    assert next(one["kind"] for one in seen["decisions"] if one["job"] == job) == "Evict"
    assert seen["names"][job] == "big"
    assert f"{job} (big)" in cli.run("preview", "--scale", "vision=4:reclaim").stdout
    assert cli.phase(job) == "Running"
    cli.run("preview", "--scale", "vision=many", status=2)
    cli.run("preview", status=2)
    policy = cli.file("policy.yaml", "quota: vision\nself_level: {high: 6-9, low: 1-3}\n")
    assert job in cli.run("preview", "--policy", policy).stdout
    assert "draining" not in cli.run("preview", "--drain", "node-0", "--transfer", "speech:vision=1").stdout
    for name in (job, "big", f"job/{job}"):
        seen = cli.json("preview", "--cancel", name)
        assert job in [one["job"] for one in seen["decisions"]], "by its name, as every command takes it"
    assert "no such" not in cli.run("preview", "--drain", "node/node-0").stdout
