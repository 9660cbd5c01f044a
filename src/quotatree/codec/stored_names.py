"""Under which names do classes, fields and members of enums stand in stored JSON?

A database, a backup or a snapshot file is kept for years, so a name in it must not change when one in the code does.
Whoever renames something in the code enters its old name here; the golden files in tests/codec say when that is needed.

Of several names the first is written, and all are read.
"""

from __future__ import annotations

from enum import Enum
from typing import Any, Final

from quotatree.core import Code, JobRecord, SelfLevels, Step
from quotatree.core import decisions as say

Names = tuple[str, ...]

TAGS: Final[dict[type[Any], Names]] = {
    say.Start: ("Start",),
    say.Hold: ("Hold",),
    say.Evict: ("Evict",),
    say.Demote: ("Demote",),
    say.Promote: ("Promote",),
    say.Release: ("Release",),
    say.Stop: ("Stop",),
    say.Fail: ("Fail",),
    say.Alarm: ("Alarm",),
    say.Wait: ("Wait",),
}
"""Tags by class, which tell the members of a union apart. Every member of a stored union needs one."""

KEYS: Final[dict[type[Any], dict[str, Names]]] = {
    # Once all replicas beyond the core were surplus; now `Standing.surplus` tells those that are (P12).
    JobRecord: {"extras": ("surplus",)},
}
"""Keys of fields, by class and field, where they are not the name of the field: `{JobRecord: {"origin": ("spec",)}}`."""

GONE_KEYS: Final[dict[type[Any], frozenset[str]]] = {}
"""Keys of fields that a class had once and that mean nothing any more: skipped when read, never written."""

NAMED_BY_MEMBER: Final[frozenset[type[Enum]]] = frozenset({Code, Step})
"""Enums whose values are sentences: stored by member name, which the API shows too. Other enums are stored by value."""

TEXTS: Final[dict[type[Enum], dict[str, Names]]] = {}
"""Texts of enum members, by enum and member, where they are not that name or value: `{Step: {"BELOW": ("DESCENDANTS",)}}`."""

ALONE: Final[frozenset[type[Any]]] = frozenset({SelfLevels})
"""Lists that were one record once: a list of one is written as that record alone, and such a record is read as a list."""
