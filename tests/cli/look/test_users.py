"""`users` against a real server: who uses a quota, and waits for how much."""

from __future__ import annotations

from tests.cli.conftest import Cli


def test_users_of_quotas(cli: Cli):
    for job in (cli.submit("--gpus", "8", user="ann"), cli.submit("--gpus", "3", user="eve", quota="speech")):
        cli.wait_phase(job, "Running")
    cli.submit("--gpus", "2", user="ann")
    (line,) = cli.lines("users", "vision", "--no-headers", user="ann")
    assert line.split()[:8] == ["vision", "ann", "vision", "1", "8", "0", "1", "2"]
    assert [row["user"] for row in cli.json("users", "company", "--below")["items"]] == ["ann", "eve"]
    assert cli.lines("users", "-b", "quota/company", "-o", "name") == ["user/ann", "user/eve"]
    header, ann, eve = cli.lines("users", "company", "-b", "-o", "csv")
    assert header == "quota,user,workspace,running,gpus,idle,waiting,wanted,since"
    assert eve == "company,eve,speech,1,3,0,0,0,"
    assert ann.startswith("company,ann,vision,1,8,0,1,2,20")
    assert "nobody" in cli.run("users", "company").stderr
    cli.run("users", "speech", user="ann", status=3)
