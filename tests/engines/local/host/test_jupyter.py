"""JupyterLab is found on the notebook's own path, else beside the server."""

from __future__ import annotations

from pathlib import Path

from quotatree.engines.local.host import jupyter


def test_jupyterlab_is_found_on_the_notebooks_own_path_else_beside_the_server(tmp_path: Path, monkeypatch):
    def install(place: str) -> str:
        (tmp_path / place).mkdir()
        program = tmp_path / place / "jupyter-lab"
        program.touch(0o755)
        return str(program)

    own, beside = install("own"), install("beside")
    monkeypatch.setattr("sys.executable", str(tmp_path / "beside" / "python"))
    assert jupyter.find({"PATH": f"/nowhere:{tmp_path}/own"}) == own
    assert jupyter.find({}) == beside
    monkeypatch.setattr("sys.executable", "/nowhere/python")
    assert jupyter.find({"PATH": "relative"}) is None
