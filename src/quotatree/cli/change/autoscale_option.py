"""How is `--autoscale` written? As `min=1,max=4,target=8`, with `down_after=10m` where five minutes
are wrong (P16).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import click

if TYPE_CHECKING:
    from quotatree.client import types as t

AUTOSCALE_FORM: Final = "min=N,max=N,target=N"
OFF: Final = "off"
NEEDED: Final = ("min", "max", "target")


class AutoscaleType(click.ParamType[Any]):
    name = "autoscale"

    def __init__(self, *, off: bool = False) -> None:
        """`off`: the word "off" is allowed as well."""
        self._off = off

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> t.AutoscaleIn | str:
        """The body of the API, of which the server checks the values; or "off"."""
        if not isinstance(value, str):
            return value  # type: ignore[no-any-return]  # click converts what it has converted before
        if self._off and value == OFF:
            return OFF
        found: dict[str, Any] = {}
        for part in value.split(","):
            name, sign, said = part.strip().partition("=")
            if not sign or name not in (*NEEDED, "down_after"):
                self.fail(
                    f"{part.strip()!r}: write {AUTOSCALE_FORM}, and down_after=TIME if you like", param, ctx
                )
            if name in found:
                self.fail(f"{name} is there twice", param, ctx)
            found[name] = said if name == "down_after" else self._number(name, said, param, ctx)
        missing = [name for name in NEEDED if name not in found]
        if missing:
            self.fail(f"{' and '.join(missing)} missing: write {AUTOSCALE_FORM}", param, ctx)
        return found  # type: ignore[return-value]  # its fields are those

    def _number(
        self, name: str, said: str, param: click.Parameter | None, ctx: click.Context | None
    ) -> int | float:
        try:
            return float(said) if name == "target" and not said.isdecimal() else int(said)
        except ValueError:
            self.fail(f"{name}={said}: {said!r} is not a number", param, ctx)


AUTOSCALE: Final = AutoscaleType()
AUTOSCALE_OR_OFF: Final = AutoscaleType(off=True)
