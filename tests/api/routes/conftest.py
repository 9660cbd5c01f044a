"""The application behind a real server, where a client must see what comes while it comes."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest
import uvicorn

from tests.api.serving import Api, app_of, wait_for


@pytest.fixture
def port(api: Api) -> Iterator[int]:
    """The application behind a real server, for a stream never ends by itself."""
    config = uvicorn.Config(
        app_of(api.services), port=0, log_level="error", lifespan="off", timeout_graceful_shutdown=1
    )
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run)
    thread.start()
    wait_for(lambda: server.started)
    yield server.servers[0].sockets[0].getsockname()[1]
    server.should_exit = True
    thread.join()
