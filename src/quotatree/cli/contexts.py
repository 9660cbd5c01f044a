"""Which server, and with which token? What was told on the command line, else by the environment,
else by `login`.

Contexts are kept in one file that only its owner may read: `quotatree/contexts.json` in the
configuration directory (XDG_CONFIG_HOME, else ~/.config).
"""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Final

DEFAULT_URL: Final = "http://127.0.0.1:7070"
DEFAULT_NAME: Final = "default"
URL_VARIABLE: Final = "QUOTATREE_URL"
TOKEN_VARIABLE: Final = "QUOTATREE_TOKEN"
CONTEXT_VARIABLE: Final = "QUOTATREE_CONTEXT"


class BadContext(Exception):
    """What is wrong with the file, or with what was asked of it."""


@dataclass(frozen=True, slots=True)
class Context:
    """One login. `token_id` is set if `login` made the token, so that `logout` revokes it; else it
    is "".

    `workspace` and `quota`: where jobs go unless you say otherwise; "" if the context remembers
    none.
    """

    url: str
    token: str = field(repr=False)
    user: str = ""
    token_id: str = ""
    workspace: str = ""
    quota: str = ""

    def stored(self) -> dict[str, str]:
        """As it stands in the file. What is not remembered is left out, so that older versions read
        it.
        """
        fields = asdict(self)
        return {name: text for name, text in fields.items() if text or name not in ("workspace", "quota")}


@dataclass(frozen=True, slots=True)
class Contexts:
    current: str = DEFAULT_NAME
    known: dict[str, Context] = field(default_factory=dict)

    def with_context(self, name: str, context: Context) -> Contexts:
        return Contexts(name, {**self.known, name: context})

    def without(self, name: str) -> Contexts:
        return replace(self, known={key: value for key, value in self.known.items() if key != name})

    def of_server(self, url: str) -> list[str]:
        """The names of the logins for this server; only the current one, if it is among them."""
        names = [name for name, one in self.known.items() if _same(one.url, url)]
        return [self.current] if self.current in names else sorted(names)


@dataclass(frozen=True, slots=True)
class Target:
    """The server to ask. `workspace` and `quota` are remembered for it; "" if they are not."""

    url: str
    token: str | None = field(repr=False)
    workspace: str = ""
    quota: str = ""


def config_file() -> Path:
    base = os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config"
    return Path(base) / "quotatree" / "contexts.json"


def load() -> Contexts:
    path = config_file()
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
        return Contexts(data["current"], {name: Context(**value) for name, value in data["contexts"].items()})
    except FileNotFoundError:
        return Contexts()
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise BadContext(f"{path} cannot be read ({error}): mend it, or delete it and log in again") from None


def save(contexts: Contexts) -> None:
    """Write the file whole or not at all. Other users can never read it, not even for a moment."""
    path = config_file()
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    data = {
        "current": contexts.current,
        "contexts": {name: context.stored() for name, context in contexts.known.items()},
    }
    part = path.with_name(f"{path.name}.{os.getpid()}.part")
    descriptor = os.open(part, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        json.dump(data, file, indent=1)
    part.replace(path)


def resolve(server: str | None, token_file: Path | None, context: str | None) -> Target:
    """The server to ask, with a token if there is one: options go before variables, those before
    the context.

    Without a named context, a server that is named gets the login that is saved for it. The token
    of a context is sent only to the server for which it was given. Raises BadContext.
    """
    url, found = _server(server, context)
    if token_file is not None:
        return Target(url, read_token(token_file))
    given = None if context else os.environ.get(TOKEN_VARIABLE)
    if given is not None and not given.strip():
        raise BadContext(f"{TOKEN_VARIABLE} is empty: give it a token, or unset it to use the saved login")
    if given:
        return Target(url, given.strip())
    if found is not None:
        return Target(url, found.token, found.workspace, found.quota)
    logins = [] if context else load().of_server(url)
    if len(logins) > 1:
        raise BadContext(
            f"{url}: there are several logins for it; choose one by --context: {', '.join(logins)}"
        )
    return Target(url, None)


def server_url(server: str | None) -> str:
    """The address to log in to, as `resolve` finds it. Raises BadContext."""
    return _server(server, None)[0]


def _server(server: str | None, context: str | None) -> tuple[str, Context | None]:
    """The server's address, and the login for it, if there is exactly one to choose."""
    named = context or os.environ.get(CONTEXT_VARIABLE)
    contexts = load()
    if named and named not in contexts.known:
        there = ", ".join(sorted(contexts.known)) or "none"
        raise BadContext(f"no context {named}; there are: {there}")
    found = contexts.known.get(named or contexts.current)
    url = (
        server or (None if context else os.environ.get(URL_VARIABLE)) or (found.url if found else DEFAULT_URL)
    )
    if not url.startswith(("http://", "https://")):
        raise BadContext(f"server {url}: must begin with http:// or https://, such as {DEFAULT_URL}")
    if found is not None and _same(found.url, url):
        return url, found
    logins = [] if named else contexts.of_server(url)
    return url, contexts.known[logins[0]] if len(logins) == 1 else None


def _same(url: str, other: str) -> bool:
    return url.rstrip("/") == other.rstrip("/")


def read_token(path: Path) -> str:
    try:
        text = path.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise BadContext(f"{path}: {getattr(error, 'strerror', None) or error}") from None
    if not text or len(text.split()) != 1:
        raise BadContext(f"{path} must contain a token and nothing else")
    return text
