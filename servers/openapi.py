"""Check JSON against the types, names and values of the schemas of an OpenAPI 3.1 description.

Only the schemas in use are parsed, because OpenAI's description has two megabytes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, cast

import yaml

Schema = dict[str, Any]

_NAME = re.compile(r"^    ([A-Za-z0-9_.-]+):\s*$", re.MULTILINE)
_TYPES: Mapping[str, tuple[type, ...]] = {
    "object": (dict,),
    "array": (list,),
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "null": (type(None),),
}


class Description:
    """The schemas of a description."""

    def __init__(self, path: Path) -> None:
        text = path.read_text(encoding="utf-8").partition("\n  schemas:\n")[2]
        starts = list(_NAME.finditer(text))
        ends = [*(one.start() for one in starts[1:]), len(text)]
        self._texts = {one[1]: text[one.start() : end] for one, end in zip(starts, ends, strict=True)}
        self._schema = cache(self._read)

    def problems(self, value: Any, name: str) -> list[str]:
        """Return where a value violates the schema of this name; empty if it conforms."""
        return list(self._wrong(value, self._schema(name), name))

    def _read(self, name: str) -> Schema:
        return yaml.safe_load(self._texts[name])[name]

    def _wrong(self, value: Any, given: Any, at: str) -> Iterator[str]:
        if not isinstance(given, dict):
            return
        schema = cast(Schema, given)
        if "$ref" in schema:
            yield from self._wrong(value, self._schema(schema["$ref"].rpartition("/")[2]), at)
        if value is None and schema.get("nullable"):
            return
        named = schema.get("type", ())
        kinds: Sequence[str] = [named] if isinstance(named, str) else named
        if kinds and not any(_is(value, kind) for kind in kinds):
            yield f"{at} is {value!r:.60}, not {' or '.join(kinds)}"
            return
        if "enum" in schema and value not in schema["enum"]:
            yield f"{at} is {value!r:.60}, not one of {schema['enum']}"
        if "const" in schema and value != schema["const"]:
            yield f"{at} is {value!r:.60}, not {schema['const']!r}"
        for part in schema.get("allOf", ()):
            yield from self._wrong(value, part, at)
        for word in ("anyOf", "oneOf"):
            choices = [list(self._wrong(value, choice, at)) for choice in schema.get(word, ())]
            if choices and all(choices):
                yield f"{at} is none of the kinds there are: {min(choices, key=len)}"
        number = isinstance(value, (int, float)) and not isinstance(value, bool)
        if number and not schema.get("minimum", value) <= value <= schema.get("maximum", value):
            yield f"{at} is {value}, out of its range"
        if isinstance(value, dict):
            yield from self._wrong_fields(cast(Schema, value), schema, at)
        if isinstance(value, list):
            items = cast(list[Any], value)
            if not schema.get("minItems", 0) <= len(items) <= schema.get("maxItems", len(items)):
                yield f"{at} has {len(items)} items"
            for place, item in enumerate(items):
                yield from self._wrong(item, schema.get("items"), f"{at}[{place}]")

    def _wrong_fields(self, value: Schema, schema: Schema, at: str) -> Iterator[str]:
        known = schema.get("properties", {})
        yield from (f"{at} lacks {name}" for name in schema.get("required", ()) if name not in value)
        for name, inner in value.items():
            if name in known:
                yield from self._wrong(inner, known[name], f"{at}.{name}")
            elif schema.get("additionalProperties") is False:
                yield f"{at} has {name}, which is not known"


def _is(value: Any, kind: str) -> bool:
    return isinstance(value, _TYPES[kind]) and (kind == "boolean" or not isinstance(value, bool))
