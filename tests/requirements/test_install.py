"""What pip is told about where packages come from is told to uv, too (requirements/install.py)."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

SCRIPT = Path(__file__).resolve().parents[2] / "requirements" / "install.py"


@pytest.fixture(scope="module")
def install() -> ModuleType:
    spec = importlib.util.spec_from_file_location("requirements_install", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_a_mirror_its_certificate_and_a_folder_of_wheels_are_passed_on(install: ModuleType):
    listing = (
        ":env:.find-links='/srv/wheels /srv/more'\n"
        "global.cert='/etc/ssl/company.pem'\n"
        "global.index-url='https://mirror.example/simple'\n"
        "global.extra-index-url='\\nhttps://a.example/simple\\nhttps://b.example/simple'\n"
    )
    assert install.for_uv(install.pip_settings(listing), {}) == {
        "UV_INDEX_STRATEGY": "unsafe-best-match",
        "UV_DEFAULT_INDEX": "https://mirror.example/simple",
        "UV_INDEX": "https://a.example/simple https://b.example/simple",
        "UV_FIND_LINKS": "/srv/wheels,/srv/more",
        "SSL_CERT_FILE": "/etc/ssl/company.pem",
    }


def test_a_variable_goes_before_the_section_install_and_that_before_global(install: ModuleType):
    listing = "install.timeout='30'\nglobal.timeout='10'\nglobal.proxy='http://a'\n:env:.proxy='http://b'\n"
    assert install.pip_settings(listing) == {"timeout": "30", "proxy": "http://b"}


def test_settings_of_other_commands_are_left_alone(install: ModuleType):
    assert install.pip_settings("download.timeout='3'\nglobal.timeout='10'\n") == {"timeout": "10"}


def test_what_is_set_for_uv_stays(install: ModuleType):
    told = install.for_uv(
        {"cert": "/pip.pem"}, {"SSL_CERT_FILE": "/mine.pem", "UV_INDEX_STRATEGY": "first-index"}
    )
    assert told == {}
