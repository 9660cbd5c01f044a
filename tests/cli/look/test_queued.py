"""`get users --quota` against a real server: who uses a quota, and waits for how much."""

from __future__ import annotations

from tests.cli.conftest import Cli


def test_users_of_quotas(cli: Cli):
    for job in (cli.submit("--gpus", "8", user="ann"), cli.submit("--gpus", "3", user="eve", quota="speech")):
        cli.wait_phase(job, "Running")
    cli.submit("--gpus", "2", user="ann")
    (line,) = cli.lines("get", "users", "--quota", "vision", "--no-headers", user="ann")
    assert cli.lines("users", "vision", "--no-headers", user="ann")[0].split()[:8] == line.split()[:8]
    assert line.split()[:8] == ["vision", "ann", "vision", "1", "8", "0", "1", "2"]
    assert [row["user"] for row in cli.json("get", "users", "--quota", "company", "--below")["items"]] == [
        "ann",
        "eve",
    ]
    assert cli.lines("users", "-b", "quota/company", "-o", "name") == ["user/ann", "user/eve"]
    header, ann, eve = cli.lines("get", "users", "--quota", "company", "-b", "-o", "csv")
    assert header == "quota,user,workspace,running,gpus,idle,waiting,wanted,since"
    assert eve == "company,eve,speech,1,3,0,0,0,"
    assert ann.startswith("company,ann,vision,1,8,0,1,2,20")
    assert "no user runs or waits there" in cli.run("get", "users", "--quota", "company").stderr
    cli.run("get", "users", "--quota", "speech", user="ann", status=3)
    assert "not both" in cli.run("get", "users", "ann", "--quota", "vision", status=2).stderr
    assert "say with --quota" in cli.run("get", "users", "--below", status=2).stderr
