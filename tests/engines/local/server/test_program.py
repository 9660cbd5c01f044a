"""A program is checked where it is submitted: every wrong field is named, with what is allowed (E2, local engine)."""

import json

import pytest

from quotatree.core.model.policy import Module
from quotatree.engines.local.server import program as local_program
from quotatree.engines.local.server.program import BadProgram, parse

TRUE = {"command": ["true"]}


@pytest.mark.parametrize(
    ("program", "said"),
    [
        ({}, "program.command: missing"),
        ({"command": []}, "program.command: must be a list of words"),
        ({"command": "  "}, "program.command: is empty"),
        ({"command": [""]}, "program.command[0]: is empty"),
        ({"command": ["a", 1]}, "program.command[1]: must be text, not a number"),
        ({"command": ["a\0b"]}, "program.command[0]: must not contain a zero"),
        ({"command": ["\ud800"]}, "program.command[0]: must be valid Unicode"),
        ({"command": ["x" * 200_000]}, "program.command[0]: longer than 128 KiB"),
        ({"command": 7}, "program.command: must be a list of words"),
        (TRUE | {"comand": 1}, "program.comand: no such field; there are command, workdir, env"),
        (TRUE | {"workdir": "here"}, "must be an absolute path"),
        (TRUE | {"workdir": "/no/such/place"}, "no such directory on this machine"),
        (TRUE | {"workdir": "/" + "a" * 5_000}, "program.workdir: cannot be used: File name too long"),
        (TRUE | {"env": ["A=1"]}, "program.env: must be names with their values, not a list"),
        (TRUE | {"env": {"1A": "x"}}, "program.env.1A: a name has letters"),
        (TRUE | {"env": {"A": 1}}, "program.env.A: must be text, not a number"),
        (TRUE | {"env": {"QUOTATREE_JOB": "x"}}, "set by QuotaTree"),
        (TRUE | {"env": {"A": "x"}, "secrets": {"A": "y"}}, "program.secrets.A: also in program.env"),
        (TRUE | {"retries": 101}, "program.retries = 101: must be a whole number from 0 to 100"),
        (TRUE | {"retries": True}, "program.retries = True"),
        (TRUE | {"max_seconds": 0}, "must be a number above 0"),
        (TRUE | {"max_seconds": float("inf")}, "must be a number above 0"),
        (TRUE | {"backoff_seconds": "1"}, "program.backoff_seconds = '1': must be a number from 0 to 60"),
        (TRUE | {"log_mib": 0}, "program.log_mib = 0"),
        (TRUE | {"port": 80}, "program.port: only for DSW and EAS"),
        (TRUE | {"idle_stop": {"minutes": 1}}, "program.idle_stop: only for DSW"),
    ],
)
def test_a_wrong_field_is_named_with_what_is_allowed(program, said):
    with pytest.raises(BadProgram) as caught:
        parse(program, Module.DLC)
    assert said in str(caught.value)


@pytest.mark.parametrize(
    ("program", "said"),
    [
        ({"retries": 1}, "program.retries: only for DLC"),
        ({"port": 70_000}, "program.port = 70000: must be a whole number from 1 to 65535"),
        ({"port": 8080}, "2 replicas cannot share one port"),
        ({"health": "/up"}, "program.health: must be an object with path, interval_seconds"),
        ({"health": {"url": "x"}}, "program.health.url: no such field"),
        ({"health": {"path": "up"}}, "must begin with /"),
        ({"health": {"path": "/a b"}}, "contain no blanks"),
        ({"health": {"interval_seconds": 0}}, "must be a number from 0.05"),
    ],
)
def test_the_fields_of_a_service_too(program, said):
    with pytest.raises(BadProgram) as caught:
        parse(TRUE | program, Module.EAS, replicas=2)
    assert said in str(caught.value)


def test_no_message_shows_a_secret():
    for wrong in ({"TOKEN": "hunter2\0"}, {"TOKEN": ["hunter2"]}, {"TO KEN": "hunter2"}, ["hunter2"]):
        with pytest.raises(BadProgram) as caught:
            parse(TRUE | {"secrets": wrong}, Module.DLC)
        assert "hunter2" not in str(caught.value)


def test_what_is_written_down_has_every_field_but_the_secrets():
    program = parse({"command": ["a"], "secrets": {"TOKEN": "hunter2"}, "port": None}, Module.EAS)
    body = program.public()
    assert "hunter2" not in json.dumps(body)
    assert set(body) == set(local_program.FIELDS) - {"secrets"}
    assert body["command"] == ["a"]
    assert (body["env"], body["retries"], body["log_mib"], body["health"]) == ({}, 0, 10, None)


def test_a_string_is_for_a_shell_and_stays_one():
    assert parse({"command": "a | b"}, Module.DLC).public()["command"] == "a | b"


def test_a_notebook_needs_no_command_where_jupyterlab_is_installed(monkeypatch):
    monkeypatch.setattr("quotatree.engines.local.host.jupyter.find", lambda env: "/bin/jupyter-lab")
    assert parse({"idle_stop": {"minutes": 30}}, Module.DSW).command is None
    monkeypatch.setattr("quotatree.engines.local.host.jupyter.find", lambda env: None)
    with pytest.raises(BadProgram, match="JupyterLab is not installed"):
        parse({}, Module.DSW)
