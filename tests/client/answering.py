"""A server that answers what it is told to, and remembers what it was asked."""

from __future__ import annotations

import json

import httpx2

from quotatree.client import Client


class Server:
    """Answers what it was told to, and remembers what it was asked."""

    def __init__(self, *answers: httpx2.Response | Exception) -> None:
        self.answers = list(answers)
        self.asked: list[httpx2.Request] = []
        self.slept: list[float] = []

    def __call__(self, request: httpx2.Request) -> httpx2.Response:
        self.asked.append(request)
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    def client(self) -> Client:
        return Client("http://server", "qt_x", http=httpx2.MockTransport(self), sleep=self.slept.append)


def problem(status: int, code: str, **more: object) -> httpx2.Response:
    body = {"type": "urn:x", "title": "T", "status": status, "detail": "because", "code": code, **more}
    headers = {"Content-Type": "application/problem+json", "Retry-After": "2"}
    return httpx2.Response(status, content=json.dumps(body), headers=headers)


def page(*names: str, following: str | None = None) -> httpx2.Response:
    return httpx2.Response(200, json={"items": [{"id": name} for name in names], "next": following})
