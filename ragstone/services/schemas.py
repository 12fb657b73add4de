"""JSON schemas of forms, as servers accept them."""

from __future__ import annotations

from typing import Any, cast

from pydantic import BaseModel

_ANNOTATIONS = frozenset({"default", "title"})
"""Keywords that are not rules."""
_LIMITS = frozenset(
    {"format", "pattern", "minLength", "maxLength", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"}
    | {"multipleOf", "minItems", "maxItems", "uniqueItems"}
)
"""Keywords that not all strict servers accept; the caller validates the reply anyway."""


def strict_schema(form: type[BaseModel], *, limits: bool = False) -> tuple[dict[str, Any], bool]:
    """Return the schema of a form, and whether it can be strict, with only named fields in every object.

    A strict schema requires all fields, also those with a default. Limits of length and number are kept only with
    ``limits``.
    """
    schema = form.model_json_schema()
    return _stricter(schema, _ANNOTATIONS if limits else _ANNOTATIONS | _LIMITS), not _is_open(schema)


def _stricter(node: Any, without: frozenset[str], *, names: bool = False) -> Any:
    """Return a part of a schema without some keywords; with ``names`` its keys are field names."""
    if isinstance(node, list):
        return [_stricter(one, without) for one in cast("list[Any]", node)]
    if not isinstance(node, dict):
        return node
    fields = cast("dict[str, Any]", node)
    if names:
        return {name: _stricter(value, without) for name, value in fields.items()}
    out: dict[str, Any] = {
        key: _stricter(value, without, names=key in ("properties", "$defs"))
        for key, value in fields.items()
        if key not in without
    }
    if "properties" in out:
        out |= {"additionalProperties": False, "required": list(out["properties"])}
    return out


def _is_open(node: Any) -> bool:
    """Return whether the schema contains an object with arbitrary fields."""
    if isinstance(node, list):
        return any(_is_open(one) for one in cast("list[Any]", node))
    if not isinstance(node, dict):
        return False
    fields = cast("dict[str, Any]", node)
    if fields.get("type") == "object" and "properties" not in fields:
        return True
    return bool(fields.get("additionalProperties")) or any(_is_open(value) for value in fields.values())
