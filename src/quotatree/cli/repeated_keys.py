"""Does a file say a key twice? YAML and JSON would let the last one win without a word; TOML
refuses it by itself.
"""

from __future__ import annotations

import json
import re
from typing import Any, Final

import yaml

_TOKENS: Final = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\]]')
_COLON: Final = re.compile(r"\s*:")
_MERGE: Final = "tag:yaml.org,2002:merge"


class RepeatedKey(Exception):
    def __init__(self, key: str, line: int) -> None:
        self.key, self.line = key, line
        super().__init__(f"{key} is said twice")


def load_yaml(text: str) -> Any:
    """The content of a YAML document. Raises RepeatedKey, and what PyYAML raises."""
    return yaml.load(text, Loader=_Loader)  # a SafeLoader


def load_json(text: str) -> Any:
    """The content of a JSON document. Raises RepeatedKey, and what `json` raises."""
    content = json.loads(text)
    _check_json(text)
    return content


class _Loader(yaml.SafeLoader):
    """Looks at tables as they are written, before `<<` adds keys of others, which may be
    overwritten.
    """

    def compose_mapping_node(self, anchor: Any) -> yaml.MappingNode:
        node = super().compose_mapping_node(anchor)
        seen = set()
        for key, _ in node.value:
            written = (key.tag, key.value) if isinstance(key, yaml.ScalarNode) else None
            if written in seen and key.tag != _MERGE:
                raise RepeatedKey(key.value, key.start_mark.line + 1)
            if written is not None:
                seen.add(written)
        return node


def _check_json(text: str) -> None:
    """Raise RepeatedKey for a key that an object of this valid JSON has twice."""
    open_tables: list[set[str] | None] = []
    for token in _TOKENS.finditer(text):
        word = token[0]
        if word in "{[":
            open_tables.append(set() if word == "{" else None)
        elif word in "}]":
            open_tables.pop()
        elif open_tables and open_tables[-1] is not None and _COLON.match(text, token.end()):
            key = json.loads(word)
            if key in open_tables[-1]:
                raise RepeatedKey(key, text.count("\n", 0, token.start()) + 1)
            open_tables[-1].add(key)
