"""Files that people write: what the server could not be told is refused with its place in the file."""

from __future__ import annotations

from pathlib import Path

import pytest

from quotatree.cli.documents import read_document


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("a.yaml", "program: {env: {DAY: 2024-01-01}}", "program.env.DAY: a date has no place here; if a text is meant, put it in quotes"),
        ("a.yaml", "jobs: [{gpus: 1}, {2024-01-01: 1}]", "jobs[1]: a date has no place here"),
        ("a.yaml", "name: !!binary aGVsbG8=", "name: a bytes has no place here"),
        ("a.yaml", "gpus: .nan", "gpus: nan is not a number"),
        ("a.yaml", "quotas: &a [{id: company, children: *a}]", "quotas[0]: is nested too deeply, or contains itself"),
        ("a.toml", "since = 2024-01-01", "since: a date has no place here"),
        ("a.toml", "gpus = inf", "gpus: inf is not a number"),
        ("a.json", '{"gpus": NaN}', "gpus: nan is not a number"),
        ("a.yaml", f"gpus: 0x{'f' * 9999}", "gpus: a whole number is too large"),
        ("a.json", '{"name": "\\ud800"}', "name: a text contains NUL or half of a surrogate pair"),
    ],
)  # fmt: skip
def test_what_json_cannot_say_is_refused_with_its_place(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str, text: str, said: str
) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(SystemExit) as ended:
        read_document(tmp_path / name)
    assert ended.value.code == 2
    assert f"{name}: {said}" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("name", "text", "line"),
    [
        ("a.yaml", "gpus: 1\nname: a\ngpus: 2\n", 3),
        ("a.yaml", "quotas:\n  - id: a\n    min: {gpus: 1, gpus: 2}\n", 3),
        ("a.yaml", "min: {}\nquotas: [{'gpus': 1, \"gpus\": 2}]\n", 2),
        ("a.json", '{"a": [{"gpus": 1}, {"gpus": 1,\n "b": {}, "gpus": 2}]}', 2),
        ("a.json", '{"gpus": 1,\n\n "\\u0067pus": {"x": "}{"}}', 3),
    ],
)
def test_a_key_that_is_said_twice_is_refused_with_its_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str, text: str, line: int
) -> None:
    """E5: the last one won without a word."""
    (tmp_path / name).write_text(text)
    with pytest.raises(SystemExit) as ended:
        read_document(tmp_path / name)
    assert ended.value.code == 2
    assert f"{name}, line {line}: gpus is said twice" in capsys.readouterr().err


def test_a_key_may_stand_in_several_tables_and_overwrite_what_is_merged(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text("a: &a {x: 1, y: 2}\nb: &b {<<: *a, x: 3}\nc: {<<: *b, y: 4}\n")
    assert read_document(tmp_path / "a.yaml")["c"] == {"x": 3, "y": 4}
    (tmp_path / "a.json").write_text('{"a": {"x": "x:"}, "b": ["a", {"a": 1, "x": "a"}]}')
    assert read_document(tmp_path / "a.json")["b"][1] == {"a": 1, "x": "a"}


@pytest.mark.parametrize(
    ("name", "text"),
    [("a.yaml", f"gpus: {'9' * 9999}"), ("a.yaml", "day: 2024-99-99"), ("a.toml", f"gpus = {'9' * 9999}"), ("a.json", "9" * 9999)],
)  # fmt: skip
def test_a_number_or_date_that_cannot_be_read_is_no_traceback(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(SystemExit) as ended:
        read_document(tmp_path / name)
    assert ended.value.code == 2


def test_the_rest_is_as_it_was_written(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text("{a: [1, 2.5, x, true, null], 7: '2024-01-01'}")
    assert read_document(tmp_path / "a.yaml") == {"a": [1, 2.5, "x", True, None], 7: "2024-01-01"}
