"""Older spellings of commands: they work, and no page of help lists them."""

from __future__ import annotations

from copy import copy

import click


def hidden(command: click.Command) -> click.Command:
    """The same command, for a place in a group where it still works and is not listed."""
    other = copy(command)
    other.hidden = True
    return other
