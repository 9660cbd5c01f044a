"""Writes src/quotatree/client/types.py from docs/reference/openapi.json: what is sent and answered, as typed dictionaries.

    python docs/generate_client_types.py

Every build does it, an editable install too, and `make` does it anew when the description has changed. It needs the
standard library only.
"""

from __future__ import annotations

import json
import keyword
import textwrap
from pathlib import Path
from typing import Any, Final

ROOT: Final = Path(__file__).resolve().parent.parent
DESCRIPTION: Final = ROOT / "docs/reference/openapi.json"
MODULE: Final = ROOT / "src/quotatree/client/types.py"
HEAD: Final = '''"""What the API takes and answers, as typed dictionaries. Written by docs/generate_client_types.py; do not edit."""

from __future__ import annotations

from typing import Any, Literal, NotRequired, TypedDict

# fmt: off
'''
PLAIN: Final = {"string": "str", "integer": "int", "number": "float", "boolean": "bool", "null": "None"}


def module() -> str:
    schemas = json.loads(DESCRIPTION.read_text(encoding="utf-8"))["components"]["schemas"]
    return "\n\n".join([HEAD, *(_type(name, schemas[name]) for name in sorted(schemas))])


def _type(name: str, schema: dict[str, Any]) -> str:
    fields = schema.get("properties", {})
    if not fields or not all(field.isidentifier() and not keyword.iskeyword(field) for field in fields):
        return f"{name} = {_hint(schema)}\n"
    needed = set(schema.get("required", ()))
    lines = [f"class {name}(TypedDict):"]
    if "description" in schema:
        lines += [*_docstring(schema["description"]), ""]
    for field, value in fields.items():
        hint = _hint(value)
        lines.append(f"    {field}: {hint if field in needed else f'NotRequired[{hint}]'}")
    return "\n".join(lines) + "\n"


def _docstring(text: str) -> list[str]:
    paragraphs = [" ".join(part.split()) for part in text.split("\n\n")]
    if len(paragraphs) == 1 and len(paragraphs[0]) <= 98:
        return [f'    """{paragraphs[0]}"""']
    lines: list[str] = []
    for part in paragraphs:
        lines += [*([""] if lines else []), *textwrap.wrap(part, 100)]
    shown = [f"    {line}".rstrip() for line in lines]
    return [f'    """{lines[0]}', *shown[1:], '    """']


def _hint(schema: dict[str, Any]) -> str:
    if "$ref" in schema:
        return str(schema["$ref"]).rpartition("/")[2]
    for several in ("anyOf", "oneOf"):
        if several in schema:
            return " | ".join(dict.fromkeys(_hint(one) for one in schema[several]))
    if "const" in schema:
        return f"Literal[{_word(schema['const'])}]"
    if "enum" in schema:
        return f"Literal[{', '.join(_word(word) for word in schema['enum'])}]"
    kind = schema.get("type")
    if kind == "array":
        return f"list[{_hint(schema.get('items', {}))}]"
    if kind == "object":
        values = schema.get("additionalProperties", True)
        return f"dict[str, {_hint(values) if isinstance(values, dict) and values else 'Any'}]"
    return PLAIN.get(str(kind), "Any")


def _word(value: object) -> str:
    return json.dumps(value)


if __name__ == "__main__":
    MODULE.write_text(module(), encoding="utf-8")
