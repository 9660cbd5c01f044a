"""A server put together: loop, store, engine, webhooks and API, started and stopped in the right order."""

from __future__ import annotations

import os
import secrets
import signal
import socket
import threading
import time
from collections.abc import Callable
from typing import Any, Final

import uvicorn

from quotatree.api.app import create_app
from quotatree.api.estimate_checks import EstimateChecks
from quotatree.api.services import Services
from quotatree.api.settings import ServerSettings, oidc_of
from quotatree.api.simulations import Simulations
from quotatree.control.commands import values as do
from quotatree.control.errors import Unavailable
from quotatree.control.figure_history import FigureHistory
from quotatree.control.health import Mode
from quotatree.control.housekeeping import Housekeeping
from quotatree.control.loop import Controller
from quotatree.control.outbox import Outbox
from quotatree.control.posting import Posting
from quotatree.control.reserve import Reserve
from quotatree.control.world import SYSTEM
from quotatree.identity.first_start import FirstStart, first_start
from quotatree.identity.passwords import Passwords
from quotatree.server.cluster_edge import cluster_logins_of, edge_of
from quotatree.server.directory_lock import locked
from quotatree.server.engine_choice import engine_of, fleet_of, keep_up
from quotatree.server.leader_label import label_of
from quotatree.server.patient_protocol import PatientProtocol
from quotatree.store import Store

SIMULATIONS_DIRECTORY: Final = "simulations"
START_SECONDS: Final = 60.0
LOOKS_EVERY_SECONDS: Final = 0.5
STREAMS_END_SECONDS: Final = 3
EVERYWHERE: Final = ("", "0.0.0.0", "::")


class Server:
    """`own_file`: the database is a file in the data directory, so the process that locks it is its only server.

    `say` is told, line by line, what is done to tables of an older version. Raises AlreadyServing if another process has
    locked the directory, Refused for nodes that cannot be read, and NoEngine.
    """

    def __init__(
        self,
        store: Store,
        settings: ServerSettings,
        *,
        own_file: bool,
        say: Callable[[str], None] = lambda line: None,
    ) -> None:
        assert settings.data is not None
        self._settings = settings
        self._directory = settings.data
        self._own_file = own_file
        self._fleet = fleet_of(settings)
        # Before the engine opens its files, which two servers must not use at once.
        self._lock = locked(self._directory)
        self._uvicorn: uvicorn.Server | None = None
        self._stopping = threading.Event()
        self._furnishing: threading.Thread | None = None
        self.engine = engine_of(settings, self._directory, self._fleet)
        self._reserve = Reserve(self._directory, getattr(self.engine, "largest_job", str))
        if hasattr(self.engine, "make_room"):
            self.engine.make_room = self._reserve.give
        self.controller = Controller(
            store,
            self.engine,
            self._holder(),
            settings=settings.loop,
            reserve=self._reserve,
            say=say,
            overtaken=self._end_answering,
        )
        self._outbox = Outbox(
            store,
            self.controller.metrics,
            post=Posting(settings.webhook_networks).post,
            leads=lambda: self.controller.health.mode is Mode.LEADING,
        )
        self._housekeeping = Housekeeping(
            store,
            lambda: self.controller.health.mode is Mode.LEADING,
            settings.keep.deliveries_ms,
            also=self._reserve.fill,
        )
        self._figures = FigureHistory(self.controller, store, settings.figures)
        self._estimates = EstimateChecks(self.controller, store)
        self._label = label_of(settings, lambda: self.controller.health.mode is Mode.LEADING)
        self._started = False
        self._services = Services(
            self.controller,
            store,
            self.engine,
            Passwords(),
            oidc_of(settings.oidc),
            job_host=settings.job_host,
            limits=settings.limits,
            figures=settings.figures,
            metrics_names=settings.metrics.names,
            cluster_logins=cluster_logins_of(settings),
            last_try=self._outbox.last_try,
            simulations=Simulations(directory=self._directory / SIMULATIONS_DIRECTORY),
        )
        self._edge = edge_of(settings, self.controller, store)
        self.app = create_app(self._services)

    def _holder(self) -> str:
        """Name under which this server holds the lease. One that stands by tells it to whoever wants to write.

        With `own_file` the name is the same at every start, so the lease of an earlier start is taken over at once: that
        process is dead, since this one has the directory's lock.
        """
        if self._own_file:
            return f"{socket.gethostname()}:{self._directory.resolve()}"[:200]
        return f"{self.address} ({socket.gethostname()}:{os.getpid()}:{secrets.token_hex(4)})"

    @property
    def address(self) -> str:
        """Where this server answers, as others would call it."""
        host, _, port = self._settings.listen.rpartition(":")
        return self._address(host.strip("[]"), int(port))

    def _address(self, host: str, port: int) -> str:
        """The address with this port. A host that means "all" is told by name."""
        shown = socket.gethostname() if host in EVERYWHERE else f"[{host}]" if ":" in host else host
        scheme = "https" if self._settings.tls_cert is not None else "http"
        return f"{scheme}://{shown}:{port}"

    @property
    def stands_by(self) -> bool:
        return self.controller.health.mode is Mode.STANDBY

    @property
    def waits_for_older(self) -> bool:
        """Whether another server leads with tables of an older version, which this one brings up to date when it stops."""
        return self.controller.health.mode is Mode.WAITS_FOR_OLDER

    @property
    def overtaken(self) -> str:
        """Why this server ends: a newer version has taken over its store. "" if it has not."""
        return self.controller.overtaken

    @property
    def runs_elsewhere(self) -> str:
        """Why this server does not lead although no other server does, or "" if it is not so."""
        health = self.controller.health
        return health.detail if health.mode is Mode.ELSEWHERE else ""

    def start(self) -> None:
        """Start all threads; return when the loop leads or knows why not, after START_SECONDS at the latest."""
        self.controller.start()
        self._outbox.start()
        self._reserve.fill()
        self._housekeeping.start()
        self._figures.start()
        self._estimates.start()
        if self._label is not None:
            self._label.start()
        if self._edge is not None:
            self._edge.start()
        self._started = True
        until = time.monotonic() + START_SECONDS
        while self.controller.health.mode is Mode.STARTING and time.monotonic() < until:
            time.sleep(0.01)

    def furnish(self) -> tuple[FirstStart | None, list[str]]:
        """Make an admin with a token in an empty store; then join and drain nodes until they are the engine's.

        Returns the admin, or None if the store was not empty or this server does not lead, and notices to show.
        """
        published = self.controller.published
        if published is None or not self.controller.health.writable:
            return None, []
        made = first_start(published.directory, time.time_ns() // 1_000_000)
        if made is not None:
            command = do.EditDirectory(
                actor=SYSTEM, action="first start", change=lambda _: (made.directory, made.user)
            )
            self.controller.call(command).result()
        said = keep_up(self.controller, self._fleet) if made is not None or self._fleet.kept_up else []
        if made is not None and self._fleet.kept_up and not self._fleet.nodes:
            said.append("no GPU was found here: --nodes 1x8 declares eight virtual ones")
        return made, [*getattr(self.engine, "notices", ()), *said]

    def furnish_once_it_leads(self, told: Callable[[FirstStart | None, list[str]], None]) -> None:
        """Do so in a thread, as soon as this server leads: it stands by, or brings the tables up to date."""

        def wait() -> None:
            while not self._stopping.wait(LOOKS_EVERY_SECONDS):
                if self.controller.health.writable:
                    try:
                        told(*self.furnish())
                    except Unavailable:  # it leads no more
                        continue
                    return

        self._furnishing = threading.Thread(target=wait, name="furnish", daemon=True)
        self._furnishing.start()

    def login_link(self, user: str, host: str, port: int) -> str:
        """Address that opens the console as this user, once and soon."""
        made = self._services.links.make(user, self._services.clock())
        return f"{self._address(host, port)}{made.path}"

    def run(self, host: str, port: int, sockets: list[socket.socket]) -> None:
        """Answer requests until SIGTERM or SIGINT, or until a newer version has taken over the store.

        Open requests get STREAMS_END_SECONDS to finish.
        """
        # uvicorn sends itself the signal again when it is done; that must not kill the process before `stop` has run.
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: None)
        self._uvicorn = self.uvicorn(host, port)
        if self.overtaken:
            return
        self._uvicorn.run(sockets)

    def _end_answering(self) -> None:
        """From the loop's thread, once a newer version has taken over."""
        if self._uvicorn is not None:
            self._uvicorn.should_exit = True

    def uvicorn(self, host: str, port: int) -> uvicorn.Server:
        extra: dict[str, Any] = {}
        if self._settings.tls_cert is not None:
            extra = {"ssl_certfile": self._settings.tls_cert, "ssl_keyfile": self._settings.tls_key}
        return uvicorn.Server(
            uvicorn.Config(
                self.app,
                host=host,
                port=port,
                log_level="warning",
                access_log=False,
                lifespan="off",
                http=PatientProtocol,
                server_header=False,
                # Its own default believes every client on the loopback.
                proxy_headers=bool(self._settings.trusted_proxies),
                forwarded_allow_ips=list(self._settings.trusted_proxies),
                timeout_graceful_shutdown=STREAMS_END_SECONDS,
                **extra,
            )
        )

    def stop(self) -> None:
        """Stop all threads and unlock the directory. Jobs go on running; the next server finds them."""
        self._services.simulations.close()
        self._stopping.set()
        if self._furnishing is not None:
            self._furnishing.join()
        if self._started:
            if self._label is not None:
                self._label.stop()
            if self._edge is not None:
                self._edge.stop()
            self._figures.stop()
            self._estimates.stop()
            self._housekeeping.stop()
            self._outbox.stop()
            self.controller.stop()
        else:
            self.engine.close()
        self._lock.close()
