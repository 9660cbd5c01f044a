"""`backup`, `restore` and `migrate` on the data of a server."""

from __future__ import annotations

import json
from pathlib import Path

from tests.cli.process import Process, run


def test_backup_restore_migrate_doctor(tmp_path: Path, started: list[Process]):
    data, copy, file = tmp_path / "data", tmp_path / "copy", tmp_path / "backup"
    server = Process(data)
    started.append(server)
    run("backup", str(file), "--data", str(data))
    run("backup", str(file), "--data", str(data), status=1)
    run("backup", str(tmp_path / "b2"), "--data", str(tmp_path / "nothing"), status=2)
    run("restore", str(file), "--data", str(data), status=1)
    run("restore", str(file), "--data", str(copy))
    run("restore", str(data / "admin-token"), "--data", str(tmp_path / "other"), status=1)
    assert list((tmp_path / "other").iterdir()) == [], "a restore that fails makes no empty database"
    assert "is up to date" in run("migrate", "--data", str(copy)).stdout
    env: dict[str, str | None] = {
        "XDG_CONFIG_HOME": str(tmp_path / "config"), "QUOTATREE_URL": server.url, "QUOTATREE_TOKEN": server.token,
        "QUOTATREE_ENGINE": "timer",
    }  # fmt: skip
    server.client(server.token).close()
    checks = json.loads(run("doctor", "--data", str(copy), "-o", "json", env=env).stdout)["checks"]
    found = {one["check"]: one["state"] for one in checks}
    assert "bad" not in found.values()
    assert found["logins"] == "warning"
    assert {found[name] for name in ("server", "clock", "token", "settings", "data", "disk")} == {"ok"}
    run("doctor", "--data", str(tmp_path / "nothing"), env=env, status=1)
    run("doctor", "--server", "http://127.0.0.1:1", env=env, status=1)
