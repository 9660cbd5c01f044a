"""How do webhooks hear of events? From an outbox that is written in the same commit as the event, by a thread of its own.

A delivery is a POST of one event as JSON, signed: header `Quotatree-Signature: t=<seconds>,v1=<hex>`, where the hex is
HMAC-SHA256 of "<seconds>.<body>" with the webhook's secret. Anything but a 2xx answer is tried again, later each time,
and given up after `TRIES`; a failure of any kind counts as a try, also one of our own. At least once: a receiver knows
repetitions by the event's number.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import threading
import time
from collections.abc import Callable, Collection
from dataclasses import replace
from typing import Final, NamedTuple, Protocol

import structlog

from quotatree.control.metrics import Metrics
from quotatree.core import Refused
from quotatree.store.errors import StoreConflict, StoreUnavailable
from quotatree.store.rows import DeliveryRow, EventRow, WebhookRow

log = structlog.get_logger(__name__)

TRIES: Final = 12
FIRST_RETRY_MS: Final = 1_000
LONGEST_RETRY_MS: Final = 3_600_000
AT_ONCE: Final = 50
LONGEST_ERROR: Final = 200


class OutboxStore(Protocol):
    def due_deliveries(
        self, now_ms: int, limit: int, beside: Collection[str] = ()
    ) -> list[tuple[DeliveryRow, EventRow, WebhookRow]]: ...

    def put_delivery(self, delivery: DeliveryRow) -> None: ...


Post = Callable[[str, bytes, dict[str, str]], int]
Due = tuple[DeliveryRow, EventRow, WebhookRow]


class LastTry(NamedTuple):
    """What became of the last delivery that was tried. `status`: what the receiver answered; None: it did not.
    `error` is "" for one that it took.
    """

    at_ms: int
    status: int | None
    error: str


class Outbox:
    def __init__(
        self,
        store: OutboxStore,
        metrics: Metrics,
        *,
        post: Post,
        clock: Callable[[], int] = lambda: time.time_ns() // 1_000_000,
        every_seconds: float = 1.0,
        leads: Callable[[], bool] = lambda: True,
    ) -> None:
        """`leads`: whether this server leads; one that stands by delivers nothing, or everything would be told twice."""
        self._leads = leads
        self._busy: set[str] = set()  # webhooks whose receivers are being told
        self._guard = threading.Lock()
        self._store = store
        self._metrics = metrics
        self._clock = clock
        self._post = post
        self._last: dict[str, tuple[str, LastTry]] = {}  # by webhook, with the address it had
        self._every_seconds = every_seconds
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="webhooks", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._stopping.set()
        self._thread.join()

    def last_try(self, webhook: WebhookRow) -> LastTry | None:
        """The last try to deliver to this address of the webhook since this server leads; None: there was none."""
        url, last = self._last.get(webhook.id, ("", None))
        return last if url == webhook.url else None

    def deliver_due(self) -> int:
        """Try due deliveries once each, at most AT_ONCE of them; return how many were tried."""
        due = self._store.due_deliveries(self._clock(), AT_ONCE) if self._leads() else []
        for one in due:
            self._keep(one, self._deliver(*one))
        return len(due)

    def begin_due(self) -> int:
        """Have due deliveries tried, those of each webhook in a thread of its own: a receiver that does not answer
        keeps nobody else waiting, however much is due for it. Returns how many webhooks are being told now that were not before.
        """
        if not self._leads():
            return 0
        with self._guard:
            busy = frozenset(self._busy)
        by_webhook: dict[str, list[Due]] = {}
        for one in self._store.due_deliveries(self._clock(), AT_ONCE, busy):
            by_webhook.setdefault(one[2].id, []).append(one)
        for name, due in by_webhook.items():
            with self._guard:
                self._busy.add(name)
            self._begin(name, due)
        return len(by_webhook)

    def _begin(self, webhook: str, due: list[Due]) -> None:
        try:
            threading.Thread(
                target=self._tell, args=(webhook, due), name=f"webhook-{webhook}", daemon=True
            ).start()
        except RuntimeError:  # the machine has no room for another thread: these deliveries stay due
            with self._guard:
                self._busy.discard(webhook)
            raise

    def _tell(self, webhook: str, due: list[Due]) -> None:
        """Deliver to one receiver; after a failure the rest waits as long as the one that failed."""
        try:
            for number, one in enumerate(due):
                tried = self._deliver(*one)
                self._keep(one, tried)
                if tried.last_error:
                    for later in due[number + 1 :]:
                        self._keep(later, replace(later[0], due_ms=max(tried.due_ms, later[0].due_ms)))
                    return
        except (
            Exception
        ) as error:  # of the store: what was not kept is due at once, and is not told again without a pause
            log.warning("outbox_failed", webhook=webhook, error=f"{type(error).__name__}: {error}")
            self._stopping.wait(self._every_seconds)
        finally:
            with self._guard:
                self._busy.discard(webhook)

    def _keep(self, one: Due, tried: DeliveryRow) -> None:
        try:
            self._store.put_delivery(tried)
        except StoreConflict:  # its webhook was dropped meanwhile, and its deliveries with it
            log.info("webhook_gone", webhook=one[2].id, seq=one[1].seq)

    def _deliver(self, delivery: DeliveryRow, event: EventRow, webhook: WebhookRow) -> DeliveryRow:
        now_ms = self._clock()
        status, error = self._tried(event, webhook, now_ms)
        self._last[webhook.id] = (webhook.url, LastTry(now_ms, status, error))
        attempts = delivery.attempts + 1
        if not error:
            self._metrics.deliveries.labels("sent").inc()
            return replace(delivery, attempts=attempts, state="sent", last_error="")
        self._metrics.deliveries.labels("dead" if attempts >= TRIES else "failed").inc()
        log.warning("webhook_failed", webhook=webhook.id, seq=event.seq, attempts=attempts, error=error)
        if attempts >= TRIES:
            return replace(delivery, attempts=attempts, state="dead", last_error=error)
        pause_ms = min(FIRST_RETRY_MS << delivery.attempts, LONGEST_RETRY_MS)
        return replace(delivery, attempts=attempts, due_ms=now_ms + pause_ms, last_error=error)

    def _tried(self, event: EventRow, webhook: WebhookRow, now_ms: int) -> tuple[int | None, str]:
        """The status that the receiver answered, None for no answer, and what is wrong with it; "" for nothing."""
        try:
            body = event_body(event)
            headers = {
                "Content-Type": "application/json",
                "Quotatree-Event": str(event.seq),
                "Quotatree-Signature": signature(webhook.secret, now_ms // 1000, body),
            }
            status = self._post(webhook.url, body, headers)
        except (OSError, Refused) as failure:
            return None, f"{type(failure).__name__}: {failure}"[:LONGEST_ERROR]
        except Exception as failure:  # a fault of ours: it counts as a try, or it would be met again for ever
            log.exception("webhook_not_posted", webhook=webhook.id)
            return None, f"{type(failure).__name__}: {failure}"[:LONGEST_ERROR]
        return status, "" if 200 <= status < 300 else f"answered {status}"

    def _run(self) -> None:
        while not self._stopping.is_set():
            tried = 0
            try:
                tried = self.begin_due()
            except StoreUnavailable as error:
                log.warning("outbox_unavailable", error=str(error))
            except Exception:
                log.exception(
                    "outbox_failed"
                )  # the thread goes on: other webhooks would hear nothing any more
            if not tried:
                self._stopping.wait(self._every_seconds)


def event_body(event: EventRow) -> bytes:
    told = {
        "seq": event.seq,
        "at_ms": event.at_ms,
        "kind": event.kind,
        "workspace": event.workspace,
        "quota": event.quota,
        "job": event.job,
        "body": event.body,
    }
    return json.dumps(told, separators=(",", ":")).encode()


def signature(secret: str, seconds: int, body: bytes) -> str:
    signed = hmac.new(secret.encode(), str(seconds).encode() + b"." + body, hashlib.sha256).hexdigest()
    return f"t={seconds},v1={signed}"
