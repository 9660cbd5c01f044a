"""Values to JSON-able data and back, by their type hints: rows of a store, snapshot files, bodies of an API."""

from quotatree.codec.decoding import DecodeError, decode
from quotatree.codec.encoding import encode

__all__ = ["DecodeError", "decode", "encode"]
