"""Files of what-if runs: whole or not at all, and none that is spoilt costs more than itself."""

from __future__ import annotations

from pathlib import Path

from quotatree.api.simulation_files import SimulationFiles


def test_what_is_kept_is_read_again_until_it_is_forgotten(tmp_path: Path):
    files = SimulationFiles(tmp_path / "runs")
    files.keep("a", {"title": "one"})
    files.keep("b", {"title": "two"})
    files.forget("a")
    files.forget("never-there")
    assert SimulationFiles(tmp_path / "runs").kept(lambda fields: fields["title"]) == ["two"]
    assert (tmp_path / "runs" / "b.json").stat().st_mode & 0o077 == 0, "nobody else reads it"


def test_a_file_that_is_cut_off_or_of_another_format_is_passed_over(tmp_path: Path):
    files = SimulationFiles(tmp_path)
    files.keep("good", {"title": "one"})
    (tmp_path / "cut.json").write_text('{"format":1,"tit')
    (tmp_path / "newer.json").write_text('{"format":99,"title":"x"}')
    (tmp_path / "strange.json").write_text("[]")
    assert files.kept(lambda fields: fields["title"]) == ["one"]


def test_a_directory_that_cannot_be_written_costs_only_the_file(tmp_path: Path):
    (tmp_path / "taken").write_text("a file stands where the directory should be")
    files = SimulationFiles(tmp_path / "taken")
    files.keep("a", {})
    assert files.kept(dict) == []


def test_without_a_directory_nothing_is_kept():
    files = SimulationFiles(None)
    files.keep("a", {})
    files.forget("a")
    assert files.kept(dict) == []
