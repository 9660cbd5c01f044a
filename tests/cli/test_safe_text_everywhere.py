"""No command prints what others wrote so that it steers the terminal or forges a line.

A server answers each question with the described answer, in which every text is hostile; every command that looks is run, and
those that change something. Another refuses everything, in words that are hostile.
"""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner

from quotatree.cli import main

HOSTILE = "=a\x1b]0;t\x07\x1b[2J\x9b31m\x7f\r\u202eb\u2066\u2028c\nFORGED line"
STEERING = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")
DESCRIBED = json.loads((Path(__file__).parents[2] / "docs/reference/openapi.json").read_text())
ENDS = ("next", "next_seq", "after")
"""Fields that say where the next page begins: there is none."""
READ = {"priorities": "1-9", "parent": None, "checkpoint_interval": "10m"}
"""Fields that commands read and do not only print."""
NOUNS = (
    "job",
    "quota",
    "workspace",
    "node",
    "pool",
    "user",
    "token",
    "webhook",
    "event",
    "preemption",
    "audit",
)
LISTS = [("get", noun) for noun in NOUNS]
WITH_TABLES = [*LISTS, ("queue", "q"), ("users", "q"), ("usage",), ("preemptions",), ("events",)]
IN_WORDS = [
    *(("describe", noun, "x") for noun in NOUNS if noun not in ("event", "preemption", "audit", "pool", "token")),
    ("explain", "dlc-0123456789"), ("tree",), ("top", "--once"), ("policy", "show", "q"), ("priorities", "show"),
    ("centre", "show", "w", "q"), ("whoami",), ("open", "dlc-0123456789"),
]  # fmt: skip
IN_JSON = [
    *LISTS, ("describe", "job", "x"), ("describe", "quota", "x"), ("describe", "workspace", "x"), ("explain", "dlc-0123456789"),
    ("usage",), ("tree",), ("events",), ("preemptions",), ("users", "q"), ("queue", "q"),
]  # fmt: skip
CHANGES = [
    ("cancel", "dlc-0123456789"), ("hold", "dlc-0123456789"), ("priority", "dlc-0123456789", "3"), ("cordon", "n"), ("drain", "-y", "n"),
    ("resize", "-y", "dlc-0123456789", "--replicas", "2"), ("resize", "--dry-run", "dlc-0123456789", "--replicas", "2"),
    ("resize", "dlc-0123456789", "--replicas", "2"), ("scale", "-y", "q", "4"),
    ("transfer", "-y", "a", "b", "4"), ("bind", "w", "q"), ("unbind", "w", "q"), ("return-loan", "-y", "q"),
    ("create", "quota", "-y", "n", "--parent", "q", "--gpus", "1"), ("create", "workspace", "w"), ("create", "pool", "p"),
    ("create", "node", "n", "--pool", "p", "--gpus", "1"), ("delete", "quota", "q"), ("delete", "node", "n"),
    ("user", "disable", "u"), ("token", "create", "t"), ("token", "revoke", "t"), ("webhook", "create", "h", "--url", "http://example.org"),
    ("preview", "--scale", "q=4"), ("preview", "--cancel", "dlc-0123456789"), ("console",), ("snapshot",),
    ("submit", "--workspace", "w", "--quota", "q", "--gpus", "1", "--", "true"),
    ("submit", "--workspace", "w", "--quota", "q", "--gpus", "1", "--count", "2", "--", "true"),
]  # fmt: skip


def example(schema: dict[str, Any], name: str = "") -> Any:
    """A value of the schema in which every text that is not one of a few is hostile."""
    if "$ref" in schema:
        return example(DESCRIBED["components"]["schemas"][schema["$ref"].rsplit("/", 1)[1]], name)
    if name in READ:
        return READ[name]
    if "const" in schema or "enum" in schema:
        return schema["const"] if "const" in schema else schema["enum"][0]
    for word in ("anyOf", "oneOf"):
        if word in schema:
            kinds = [one for one in schema[word] if one.get("type") != "null"]
            return None if name in ENDS and len(kinds) < len(schema[word]) else example(kinds[0], name)
    kind = schema.get("type")
    if kind == "array":
        return [example(schema.get("items", {}), name)]
    if kind == "object":
        found = {key: example(inside, key) for key, inside in schema.get("properties", {}).items()}
        others = schema.get("additionalProperties")
        if others or not found:
            found[HOSTILE] = example(others if isinstance(others, dict) else {}, name)
        if name == "program":
            found["command"] = ["bash", "-c", HOSTILE]
        return found
    if kind in ("integer", "number"):
        return max(1, schema.get("minimum", 1))
    return True if kind == "boolean" else HOSTILE


class Answering(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.answer()

    def answer(self) -> None:
        self.rfile.read(int(self.headers.get("Content-Length") or 0))
        path = self.path.partition("?")[0]
        for known, methods in DESCRIBED["paths"].items():
            answers = methods.get(self.command.lower(), {}).get("responses", {})
            said: dict[str, Any] = next(
                (answers[code].get("content", {}) for code in ("200", "201") if code in answers), {}
            )
            if "application/json" in said and re.fullmatch(re.sub(r"\{\w+\}", "[^/]+", known), path):
                body = json.dumps(example(said["application/json"]["schema"]))
                self._say("application/json", body.encode())
                return
        self.send_error(404)

    def _say(self, kind: str, body: bytes, status: int = 200) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        pass


for verb in ("POST", "PUT", "PATCH", "DELETE"):
    setattr(Answering, f"do_{verb}", Answering.do_GET)


class Refusing(Answering):
    def answer(self) -> None:
        self.rfile.read(int(self.headers.get("Content-Length") or 0))
        problem = dict.fromkeys(("type", "title", "detail", "code", "rule", "field", "value"), HOSTILE)
        wrong = [{"field": HOSTILE, "message": HOSTILE}] if "quotas" in self.path else []
        self._say(
            "application/problem+json", json.dumps({**problem, "status": 409, "errors": wrong}).encode(), 409
        )


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    yield from answered_by(Answering)


@pytest.fixture(scope="module")
def refusing_url() -> Iterator[str]:
    yield from answered_by(Refusing)


def answered_by(handler: type[Answering]) -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


def printed(url: str, tmp_path: Path, *words: str) -> str:
    env = {"QUOTATREE_URL": url, "QUOTATREE_TOKEN": "qt_x", "XDG_CONFIG_HOME": str(tmp_path), "COLUMNS": "80"}
    result = CliRunner().invoke(main, words, env=env)
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exc_info
    assert result.exit_code == 0, result.output
    return result.output


def ran(url: str, tmp_path: Path, *words: str) -> str:
    """What a command prints, however it ends; nobody answers what it asks."""
    env = {"QUOTATREE_URL": url, "QUOTATREE_TOKEN": "qt_x", "XDG_CONFIG_HOME": str(tmp_path), "COLUMNS": "80"}
    result = CliRunner().invoke(main, words, env=env)
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exc_info
    assert "Usage:" not in result.output
    return result.output


def safe(text: str) -> bool:
    return STEERING.search(text) is None


@pytest.mark.parametrize("output", ["table", "wide", "name", "csv"])
@pytest.mark.parametrize("words", WITH_TABLES, ids=" ".join)
def test_no_table_has_a_control_character_or_a_forged_line(url: str, tmp_path: Path, words, output: str):
    if output in ("wide", "name") and words not in LISTS:
        pytest.skip("has no such format")
    if output == "csv" and words[0] == "queue":
        words = ("queue", "q")
    found = printed(url, tmp_path, *words, "-o", output)
    assert safe(found), found
    if output != "csv":  # there a cell may have lines, within quotes
        assert not any(line.strip().startswith("FORGED") for line in found.splitlines()), found
    else:
        assert not re.search(r"(^|,)\"?=a", found, re.MULTILINE), "no formulas"


def test_no_cell_of_an_export_is_a_formula(url: str, tmp_path: Path):
    found = printed(url, tmp_path, "export", "-")
    assert safe(found), found
    assert not re.search(r"(^|,)\"?=a", found, re.MULTILINE)


@pytest.mark.parametrize("words", IN_WORDS, ids=" ".join)
def test_no_description_has_a_control_character_or_a_forged_line(url: str, tmp_path: Path, words):
    found = printed(url, tmp_path, *words)
    assert safe(found), found
    assert not any(line.strip().startswith("FORGED") for line in found.splitlines()), found


@pytest.mark.parametrize("words", CHANGES, ids=" ".join)
def test_no_change_is_told_with_a_control_character_or_a_forged_line(url: str, tmp_path: Path, words):
    found = ran(url, tmp_path, *words)
    assert safe(found), found
    assert not any(line.strip().startswith("FORGED") for line in found.splitlines()), found


@pytest.mark.parametrize("words", [*WITH_TABLES, *IN_WORDS, *CHANGES], ids=" ".join)
def test_no_refusal_is_told_with_a_control_character_or_a_forged_line(
    refusing_url: str, tmp_path: Path, words
):
    found = ran(refusing_url, tmp_path, *words)
    assert safe(found), found
    assert not any(line.strip().startswith("FORGED") for line in found.splitlines()), found


@pytest.mark.parametrize("words", IN_JSON, ids=" ".join)
def test_json_says_exactly_what_the_server_said_without_a_control_character(url: str, tmp_path: Path, words):
    found = printed(url, tmp_path, *words, "-o", "json")
    assert safe(found), found
    assert HOSTILE in strings(json.loads(found))


@pytest.mark.parametrize("words", LISTS, ids=" ".join)
def test_yaml_says_exactly_what_the_server_said_without_a_control_character(url: str, tmp_path: Path, words):
    found = printed(url, tmp_path, *words, "-o", "yaml")
    assert safe(found), found
    assert HOSTILE in strings(yaml.safe_load(found))


def strings(value: Any) -> list[str]:
    """All texts within a value, keys too."""
    if isinstance(value, dict):
        return [text for pair in value.items() for one in pair for text in strings(one)]
    if isinstance(value, list):
        return [text for one in value for text in strings(one)]
    return [value] if isinstance(value, str) else []
