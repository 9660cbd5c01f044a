"""Is this body JSON that can be kept? Bounded in size and depth; no NaN, no NUL, no half of a character, no giant number."""

from __future__ import annotations

import json
import re
from typing import Any, Final

from quotatree.api.problems import ApiError
from quotatree.api.services import Limits

_UNKEEPABLE: Final = re.compile("[\x00\ud800-\udfff]")
LARGEST_INT: Final = 1 << 63


def parse(body: bytes, limits: Limits) -> Any:
    """The data in the body. Raises ApiError, which says what is wrong."""
    try:
        data = json.loads(body.decode(), parse_float=_float, parse_int=_int, parse_constant=_constant)
    except UnicodeDecodeError:
        raise ApiError("Malformed", "the body is not UTF-8") from None
    except json.JSONDecodeError as error:
        raise ApiError("Malformed", f"the body is not JSON: {error.msg} at character {error.pos}") from None
    except RecursionError:
        raise ApiError("Malformed", f"the body is nested more than {limits.depth} deep") from None
    _check(data, limits.depth)
    return data


def _check(data: Any, depth: int) -> None:
    if isinstance(data, str):
        if _UNKEEPABLE.search(data):
            raise ApiError("Malformed", "a text contains NUL or half of a surrogate pair")
    elif isinstance(data, dict | list):
        if depth == 0:
            raise ApiError("Malformed", "the body is nested too deep")
        for one in data if isinstance(data, list) else (*data, *data.values()):
            _check(one, depth - 1)


def _float(text: str) -> float:
    number = float(text)
    if number in (float("inf"), float("-inf")):
        raise ApiError("Malformed", "a number is too large")
    return number


def _int(text: str) -> int:
    if len(text) > 20 or abs(int(text)) >= LARGEST_INT:
        raise ApiError("Malformed", "a whole number is too large")
    return int(text)


def _constant(text: str) -> float:
    raise ApiError("Malformed", f"{text} is not JSON")
