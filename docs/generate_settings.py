"""Writes docs/reference/settings.md from the table of settings: run it after a change there.

    .venv/bin/python docs/generate_settings.py

tests/docs fails when the page is not up to date.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from quotatree.api.settings import FILE, SETTINGS, variable_of

PAGE: Final = Path(__file__).parent / "reference" / "settings.md"

HEAD: Final = f"""\
# Settings of the server

This page is written by `docs/generate_settings.py` from the table that the server itself reads by.

A server needs no settings. What differs from the defaults stands in one TOML file, `{FILE}`; a variable overrides the
file, and an option of `quotatree serve` overrides both. Durations are written `"90s"`, `"10m"` or `"1h30m"`, sizes
`"4Mi"`. A key that is not on this page is an error.

```toml
listen = "127.0.0.1:7070"
database = "postgresql://quotatree@localhost/quotatree"

[planner]
starvation_guard = "2h"

[oidc]
issuer = "https://login.example.org"
client_id = "quotatree"
redirect_uri = "https://gpu.example.org/api/v1/oidc/callback"

[[oidc.grants]]
group = "gpu-admins"
role = "platform-admin"

[[oidc.grants]]
group = "vision"
role = "developer"
workspace = "vision"
```

In a variable, a list is written with commas: `QUOTATREE_OIDC_SCOPES=openid,email`. Secrets (`oidc.client_secret`, a
password in `database`) are better there than in a file that others can read.
"""

TITLES: Final = {
    "": "The server",
    "limits": "`[limits]`: what one request may be",
    "loop": "`[loop]`: the one writer",
    "keep": "`[keep]`: what is not kept for ever",
    "figures": "`[figures]`: how long figures of quotas are kept",
    "metrics": "`[metrics]`: what Prometheus is told",
    "planner": "`[planner]`: what an operator may tune of the rules",
    "users": "`[users]`: as which unix users jobs run on this machine",
    "kubernetes": "`[kubernetes]`: jobs as pods of a cluster",
    "oidc": "`[oidc]`: log in with an identity provider",
}


def page() -> str:
    parts = [HEAD]
    for table, title in TITLES.items():
        parts.append(f"\n## {title}\n\n| setting | variable | meaning | default |\n|---|---|---|---|\n")
        for setting in SETTINGS:
            before, _, name = setting.key.rpartition(".")
            if before == table:
                default = setting.default
                shown = (
                    f"`{default}`"
                    if default[0] in '"[' or default in ("true", "false") or default.isdecimal()
                    else default
                )
                parts.append(f"| `{name}` | `{variable_of(setting.key)}` | {setting.meaning} | {shown} |\n")
    parts.append(
        "\nWhat to set up at the provider is in [Log in with OIDC](../how-to/log-in-with-oidc.md).\n"
    )
    return "".join(parts)


def main() -> None:
    PAGE.write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    main()
