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


def test_the_rest_is_as_it_was_written(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text("{a: [1, 2.5, x, true, null], 7: '2024-01-01'}")
    assert read_document(tmp_path / "a.yaml") == {"a": [1, 2.5, "x", True, None], 7: "2024-01-01"}
