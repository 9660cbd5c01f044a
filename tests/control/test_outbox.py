"""Webhooks hear of every event they want, signed, in spite of failures (E4); and logs keep secrets."""

import hashlib
import hmac
import io
import json
import logging
import threading
from collections.abc import Collection
from dataclasses import replace
from http.client import HTTPException
from pathlib import Path

import pytest
import structlog

from quotatree.access.errors import Forbidden
from quotatree.control import logs
from quotatree.control.commands import values as do
from quotatree.control.metrics import Metrics
from quotatree.control.outbox import AT_ONCE, TRIES, Due, Outbox
from quotatree.core.errors import Refused
from quotatree.store.rows import DeliveryRow
from tests.control.server import Server

SECRET = "a-secret-of-16-letters"


@pytest.fixture
def server(tmp_path: Path) -> Server:
    made = Server(tmp_path).furnish()
    made.do(
        do.PutWebhook(
            actor="root", webhook="chat", url="http://127.0.0.1:9/hook", secret=SECRET, workspace="vision",
            kinds=("job.started", "job.ended"),
        )
    )  # fmt: skip
    return made


class Receiver:
    def __init__(self) -> None:
        self.status = 200
        self.heard: list[tuple[str, bytes, dict[str, str]]] = []

    def post(self, url: str, body: bytes, headers: dict[str, str]) -> int:
        self.heard.append((url, body, headers))
        if self.status == 0:
            raise ConnectionRefusedError("nobody there")
        return self.status


def outbox_of(server: Server) -> tuple[Outbox, Receiver]:
    receiver = Receiver()
    return Outbox(server.store, Metrics(), clock=lambda: server.now_ms, post=receiver.post), receiver


def test_an_event_is_posted_once_and_signed(server: Server):
    job = server.submit(seconds=10)
    outbox, receiver = outbox_of(server)
    outbox.deliver_due()
    outbox.deliver_due()
    ((url, body, headers),) = receiver.heard
    assert url == "http://127.0.0.1:9/hook"
    told = json.loads(body)
    assert (told["kind"], told["job"]) == ("job.started", job)
    stamp, signed = headers["Quotatree-Signature"].split(",")
    wanted = hmac.new(SECRET.encode(), stamp[2:].encode() + b"." + body, hashlib.sha256).hexdigest()
    assert signed == f"v1={wanted}"


def test_a_webhook_that_is_dropped_while_it_is_told_keeps_nobody_else_from_hearing(server: Server):
    """E4: `chat` is dropped while its receiver answers; its deliveries are gone with it, those of `mail` are not."""
    mail = do.PutWebhook(actor="root", webhook="mail", url="http://127.0.0.1:9/mail", secret=SECRET)
    server.do(replace(mail, workspace="vision", kinds=("job.started",)))
    server.submit(seconds=None)
    receiver = Receiver()

    def post(url: str, body: bytes, headers: dict[str, str]) -> int:
        if url.endswith("hook"):
            server.do(do.DropWebhook(actor="root", webhook="chat"))
        return receiver.post(url, body, headers)

    outbox = Outbox(server.store, Metrics(), clock=lambda: server.now_ms, post=post)
    assert outbox.deliver_due() == 2
    assert outbox.deliver_due() == 0
    assert sorted(url for url, _, _ in receiver.heard) == [
        "http://127.0.0.1:9/hook",
        "http://127.0.0.1:9/mail",
    ]
    assert [(row.webhook, row.state) for row in server.store.table(DeliveryRow)] == [("mail", "sent")]


def test_a_failed_delivery_is_tried_again_later_each_time_and_given_up_at_last(server: Server):
    server.submit(seconds=None)
    outbox, receiver = outbox_of(server)
    receiver.status = 0
    pauses = []
    for _ in range(TRIES):
        assert outbox.deliver_due() == 1
        (row,) = server.store.table(DeliveryRow)
        assert outbox.deliver_due() == 0, "not before its time"
        pauses.append(row.due_ms - server.now_ms)
        server.now_ms = max(server.now_ms, row.due_ms)
    assert pauses[:4] == [1_000, 2_000, 4_000, 8_000]
    (row,) = server.store.table(DeliveryRow)
    assert row.state == "dead"
    assert "nobody there" in row.last_error


def test_a_receiver_that_comes_back_gets_what_it_missed(server: Server):
    server.submit(seconds=None)
    outbox, receiver = outbox_of(server)
    receiver.status = 503
    outbox.deliver_due()
    receiver.status = 204
    server.now_ms += 1_000
    assert outbox.deliver_due() == 1
    assert [row.state for row in server.store.table(DeliveryRow)] == ["sent"]


def test_webhooks_are_for_those_who_may_and_end_with_their_workspace(server: Server):
    with pytest.raises(Forbidden):
        server.do(do.DropWebhook(actor="ann", webhook="chat"))
    server.do(do.DeleteWorkspace(actor="root", workspace="vision"))
    assert server.world.webhooks == {}


@pytest.mark.parametrize(
    ("webhook", "url", "secret", "said"),
    [
        ("bad", "file:///etc/passwd", SECRET, r"must be an http or https address \[E4\]"),
        ("bad", "https://", SECRET, r"must be an http or https address \[E4\]"),
        ("bad", "http://[::1", SECRET, r"is no address: .*\[E4\]"),
        ("bad", "https://example.org", "fifteen-letters", r"must have at least 16 characters \[E4\]"),
        ("chat", "https://example.org", SECRET, r"the name is taken \[E1\]"),
        ("a b", "https://example.org", SECRET, r"must be 1 to 63 letters.* \[E1\]"),
    ],
)
def test_a_webhook_has_a_name_an_address_and_a_secret(
    server: Server, webhook: str, url: str, secret: str, said: str
):
    """`chat` belongs to a workspace, so the platform cannot have it too."""
    with pytest.raises(Refused, match=said):
        server.do(do.PutWebhook(actor="root", webhook=webhook, url=url, secret=secret))
    assert list(server.world.webhooks) == ["chat"]


def test_logs_are_json_without_secrets():
    stream = io.StringIO()
    before = structlog.get_config()
    logs.configure(stream)
    try:
        structlog.get_logger().info("signed_in", actor="ann", password="hunter2", more={"api_token": "t"})
    finally:
        structlog.configure(**before)
    entry = json.loads(stream.getvalue())
    assert (entry["event"], entry["actor"]) == ("signed_in", "ann")
    assert "hunter2" not in stream.getvalue()
    assert entry["more"] == {"api_token": "..."}


def test_no_text_forges_a_line_of_the_log_or_steers_a_terminal():
    stream = io.StringIO()
    before, handlers = structlog.get_config(), logging.root.handlers[:]
    logs.configure(stream)
    hostile = '\x1b]0;t\x07\x9b\u202e\r\n{"event": "forged"}\u2028'
    try:
        structlog.get_logger().info("signed_in", actor=hostile, more={hostile: hostile})
        logging.getLogger("other").warning("said %s", hostile)
        try:
            raise OSError(hostile)
        except OSError:
            logging.getLogger("other").exception("failed")
    finally:
        structlog.configure(**before)
        logging.root.handlers[:] = handlers
    lines = stream.getvalue().splitlines()
    assert len(lines) == 3
    assert stream.getvalue().replace("\n", "").isprintable()
    assert json.loads(lines[0])["actor"] == hostile
    assert [json.loads(line)["event"] for line in lines[1:]] == [f"said {hostile}", "failed"]
    assert "OSError" in json.loads(lines[2])["exception"]


def test_a_server_that_stands_by_delivers_nothing(server: Server):
    told, receiver = outbox_of(server)
    server.submit()
    leads = False
    told._leads = lambda: leads
    assert (told.deliver_due(), told.begin_due()) == (0, 0)
    leads = True
    assert told.deliver_due() > 0
    assert receiver.heard


def test_a_receiver_that_does_not_answer_keeps_no_other_waiting(server: Server):
    answered, released = threading.Event(), threading.Event()

    def post(url: str, body: bytes, headers: dict[str, str]) -> int:
        if "dead" in url:
            released.wait(20)
            raise OSError("timed out")
        answered.set()
        return 200

    for name in ("a-dead", "b-lives"):
        server.do(
            do.PutWebhook(
                actor="root", webhook=name, url=f"http://{name}/", secret="s" * 16, kinds=(), workspace=None
            )
        )
    told = Outbox(server.store, Metrics(), clock=lambda: server.now_ms, post=post)
    server.submit()
    assert told.begin_due() == 3, "with the one of the fixture"
    assert answered.wait(20), "while the other is still waited for"
    assert "a-dead" in told._busy
    told.begin_due()
    assert sum(one.name == "webhook-a-dead" for one in threading.enumerate()) == 1, "not told twice at once"
    released.set()
    for thread in [one for one in threading.enumerate() if one.name.startswith("webhook-")]:
        thread.join(20)
    assert not told._busy


def test_a_backlog_of_a_slow_receiver_keeps_no_other_waiting(server: Server):
    """E4: what is due for `chat` is more than is looked at at once, and its receiver does not answer."""
    for _ in range(2 * AT_ONCE + 1):
        server.do(do.CancelJob(actor="ann", job=server.submit(seconds=None)))
    mail = do.PutWebhook(actor="root", webhook="mail", url="http://127.0.0.1:9/mail", secret=SECRET)
    server.do(replace(mail, workspace="vision", kinds=("job.submitted",)))
    server.now_ms += 1_000
    server.submit(seconds=None)
    heard, released = threading.Event(), threading.Event()

    def post(url: str, body: bytes, headers: dict[str, str]) -> int:
        if "mail" in url:
            heard.set()
        else:
            released.wait(20)
        return 200

    outbox = Outbox(server.store, Metrics(), clock=lambda: server.now_ms, post=post)
    outbox.begin_due()
    outbox.begin_due()
    came = heard.wait(5)
    released.set()
    told()
    assert came


class Strange(Exception):
    pass


@pytest.mark.parametrize(
    "failure", [HTTPException("+PONG"), ValueError("x"), Strange(), RecursionError(), MemoryError()]
)
def test_a_failure_of_any_kind_counts_as_a_try_and_ends_after_the_last(server: Server, failure: Exception):
    """A receiver that does not speak HTTP was called once a second for ever: its failure was of a kind not thought of."""
    calls = []

    def post(url: str, body: bytes, headers: dict[str, str]) -> int:
        calls.append(url)
        raise failure

    metrics = Metrics()
    outbox = Outbox(server.store, metrics, clock=lambda: server.now_ms, post=post)
    server.submit(seconds=None)
    for _ in range(TRIES + 5):
        outbox.begin_due()
        told()
        (row,) = server.store.table(DeliveryRow)
        server.now_ms = max(server.now_ms, row.due_ms)
    assert len(calls) == TRIES
    assert (row.attempts, row.state) == (TRIES, "dead")
    assert type(failure).__name__ in row.last_error
    assert (
        metrics.registry.get_sample_value("quotatree_webhook_deliveries_total", {"outcome": "failed"})
        == TRIES - 1
    )


def told() -> None:
    """Wait until no receiver is being told."""
    for thread in [one for one in threading.enumerate() if one.name.startswith("webhook-")]:
        thread.join(20)


class Failing:
    """A store that fails in a way that its callers do not expect, so many times."""

    def __init__(self, server: Server, times: int) -> None:
        self._store, self.left = server.store, times

    def due_deliveries(self, now_ms: int, limit: int, beside: Collection[str] = ()) -> list[Due]:
        if self.left:
            self.left -= 1
            raise KeyError("a fault of ours")
        return self._store.due_deliveries(now_ms, limit, beside)

    def put_delivery(self, delivery: DeliveryRow) -> None:
        self._store.put_delivery(delivery)


def test_the_sending_thread_survives_a_fault_that_it_does_not_expect(server: Server):
    heard = threading.Event()

    def post(url: str, body: bytes, headers: dict[str, str]) -> int:
        heard.set()
        return 200

    store = Failing(server, 3)
    outbox = Outbox(store, Metrics(), clock=lambda: server.now_ms, post=post, every_seconds=0.001)
    server.submit(seconds=None)
    outbox.start()
    assert heard.wait(20)
    outbox.stop()
    told()
    assert store.left == 0


def test_the_last_try_of_a_webhook_is_known_until_it_has_another_address(server: Server):
    server.submit(seconds=None)
    outbox, receiver = outbox_of(server)
    hook = server.world.webhooks["chat"]
    assert outbox.last_try(hook) is None
    receiver.status = 503
    outbox.deliver_due()
    assert outbox.last_try(hook) == (server.now_ms, 503, "answered 503")
    receiver.status = 0
    server.now_ms += 1_000
    outbox.deliver_due()
    assert outbox.last_try(hook) == (server.now_ms, None, "ConnectionRefusedError: nobody there")
    receiver.status = 200
    server.now_ms += 2_000
    outbox.deliver_due()
    assert outbox.last_try(hook) == (server.now_ms, 200, "")
    assert outbox.last_try(replace(hook, url="http://127.0.0.1:9/other")) is None
