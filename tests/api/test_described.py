"""The API keeps to its own description, for whatever fits it and whatever does not: schemathesis over every operation."""

from __future__ import annotations

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, settings
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from quotatree.api.app import create_app
from tests.api.serving import Api
from tests.profiles import PROFILE, by_profile

EXAMPLES = by_profile(quick=3, deep=12, long=200)
STREAM = "/api/v1/events/stream"
"""Never ends; see test_events."""

app = create_app(None)
schema = schemathesis.openapi.from_asgi("/api/v1/openapi.json", app).exclude(path=STREAM)
# Five thousand more requests, one for each bound and type of each field, which are worked out while tests are collected.
schema.config.phases.coverage.enabled = PROFILE != "quick"
CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
]


@pytest.fixture(scope="module")
def server(shared: Api) -> Api:
    shared.submit()
    shared.submit(gpus=4)
    app.state.services = shared.services
    return shared


@schema.parametrize()
@settings(
    max_examples=EXAMPLES,
    deadline=None,
    derandomize=True,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=list(HealthCheck),
)
def test_what_is_answered_is_what_is_described(server: Api, case: schemathesis.Case):
    response = case.call(headers={"Authorization": f"Bearer {server.token('root')}"})
    case.validate_response(response, checks=CHECKS)
