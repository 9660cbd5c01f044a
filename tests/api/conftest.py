from collections.abc import Iterator

import pytest

from tests.api.serving import Api, serving


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Api]:
    """One server for a whole module; its tests must leave users, quotas and workspaces as they were."""
    with serving(tmp_path_factory.mktemp("api")) as api:
        yield api


@pytest.fixture
def api(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Api]:
    with serving(tmp_path_factory.mktemp("api")) as made:
        yield made
