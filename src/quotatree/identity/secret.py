"""How are secrets made, hashed and compared?

A secret of ours is 32 random bytes, so one round of SHA-256 is enough to store it by: there is nothing to guess.
Passwords are chosen by people and go to `passwords.py` instead.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from typing import Final

_ALPHABET: Final = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
SECRET_BYTES: Final = 32
SECRET_LENGTH: Final = 43
"""Characters of 32 bytes in base 62."""


def new_secret() -> str:
    number = secrets.randbits(8 * SECRET_BYTES)
    digits = []
    for _ in range(SECRET_LENGTH):
        number, digit = divmod(number, len(_ALPHABET))
        digits.append(_ALPHABET[digit])
    return "".join(digits)


def hash_of(secret: str) -> str:
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()


def matches(secret: str, expected_hash: str) -> bool:
    """True if the secret has this hash; the time does not depend on where the two differ."""
    return hmac.compare_digest(hash_of(secret), expected_hash)
