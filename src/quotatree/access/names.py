"""What may a user, a workspace, a quota or a node be called (E1)?"""

from __future__ import annotations

import re
from typing import Final

from quotatree.core import Refused

NAME: Final = r"[A-Za-z0-9](?:[A-Za-z0-9._-]{0,61}[A-Za-z0-9])?"
"""At most 63 letters, digits, dots, hyphens and underscores; a letter or digit at both ends."""


def check_name(field: str, value: str) -> str:
    if re.fullmatch(NAME, value) is None:
        raise Refused(
            field,
            value,
            "E1",
            "must be 1 to 63 letters, digits, '.', '_' or '-', with a letter or digit at both ends",
        )
    return value
