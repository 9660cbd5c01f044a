"""Values to JSON-able data and back, by their type hints: rows of a store, snapshot files, bodies of an API."""

from quotatree.codec.decoding import DecodeError, decode
from quotatree.codec.encoding import encode
from quotatree.codec.kinds import tag_of

__all__ = ["DecodeError", "decode", "encode", "tag_of"]
