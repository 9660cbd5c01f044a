"""Which programs are refused before the cluster is asked, and in which words?"""

from __future__ import annotations

import pytest

from quotatree.core import Module
from quotatree.engines.kubernetes.program import BadProgram, parse


@pytest.mark.parametrize(
    ("program", "said"),
    [
        ({}, "program.image: missing"),
        ({"img": "x"}, "program.img: no such field"),
        ({"image": ""}, "program.image: must be text"),
        ({"image": "x", "command": [1]}, "program.command: must be a list of words"),
        ({"image": "x", "env": {"A": 1}}, "program.env: must be names with their values"),
        ({"image": "x", "env": {"QUOTATREE_JOB": "x"}}, "set by QuotaTree"),
        ({"image": "x", "env": {"A": "b"}, "secrets": {"A": "c"}}, "also in program.env"),
        ({"image": "x", "port": 80}, "only for DSW and EAS"),
        ({"image": "x", "storage": "1Gi"}, "only for DSW"),
        ({"pod": {}}, "program.pod.containers: missing"),
        ({"pod": {"containers": [{}]}, "image": "x"}, "the whole pod is given"),
        ({"image": "x", "volumes": ["a"]}, "must be a list of objects"),
        ({"pod": {"containers": ["a"]}}, "program.pod.containers: must be a list of objects"),
        ({"pod": {"containers": [{}], "initContainers": {}}}, "program.pod.initContainers: must be a list"),
        (
            {"pod": {"containers": [{"resources": "8"}]}},
            "program.pod.containers[0].resources: must be an object",
        ),
        ({"pod": {"containers": [{"resources": {"limits": 8}}]}}, "resources.limits: must be an object"),
        (
            {"pod": {"containers": [{}], "affinity": {"nodeAffinity": []}}},
            "affinity.nodeAffinity: must be an object",
        ),
        ({"pod": {"containers": [{"env": {}}]}}, "containers[0].env: must be a list"),
    ],
)
def test_a_wrong_field_is_named_with_what_is_allowed(program, said):
    with pytest.raises(BadProgram) as caught:
        parse(program, Module.DLC)
    assert said in str(caught.value)


def test_a_command_of_one_string_is_run_by_a_shell():
    assert parse({"image": "x", "command": "a && b"}, Module.DLC).command == ("/bin/sh", "-c", "a && b")


def test_a_secret_never_stands_in_a_message():
    with pytest.raises(BadProgram) as caught:
        parse({"image": "x", "secrets": {"A": ["hush"]}}, Module.DLC)
    assert "hush" not in str(caught.value)
