"""What a refusal becomes."""

from __future__ import annotations

import httpx2
import pytest

from quotatree.client import errors
from quotatree.client.transport import TRIES
from tests.client.answering import Server, problem


def test_a_refusal_is_not_repeated_and_says_what_and_why():
    server = Server(problem(422, "Refused", field="min.gpus", value=9, rule="Q3"))
    with pytest.raises(errors.Refused) as told:
        server.client().quotas.create({"id": "q"})
    assert (told.value.field, told.value.value, told.value.rule) == ("min.gpus", 9, "Q3")
    assert len(server.asked) == 1


@pytest.mark.parametrize(("code", "kind"), sorted(errors.BY_CODE.items()))
def test_every_code_has_its_error(code: str, kind: type[errors.ApiError]):
    with pytest.raises(kind):
        Server(*[problem(400, code)] * TRIES).client().whoami()


def test_every_problem_of_the_api_is_known_or_a_fault():
    from quotatree.api.problems import PROBLEMS

    assert set(PROBLEMS) - set(errors.BY_CODE) <= {"Fault", "MethodNotAllowed"}
    assert set(errors.BY_CODE) <= set(PROBLEMS)


@pytest.mark.parametrize(
    "answer", [httpx2.Response(200, content=b"<html>"), httpx2.Response(404, json={"a": 1})]
)
def test_what_is_not_our_server_is_told(answer: httpx2.Response):
    with pytest.raises(errors.BadAnswer):
        Server(answer).client().whoami()
