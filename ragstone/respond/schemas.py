"""JSON schemas of forms, as servers take them."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel

_TOLD = frozenset({"default", "title"})
"""Keywords that are no rules."""
_LIMITS = frozenset(
    {"format", "pattern", "minLength", "maxLength", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"}
    | {"multipleOf", "minItems", "maxItems", "uniqueItems"}
)
"""Keywords that strict servers do not take, or not all of them; whoever asked checks the reply anyway."""


def strict_schema(form: type[BaseModel], *, limits: bool = False) -> tuple[dict[str, Any], bool]:
    """The schema of a form, and whether it can be kept to strictly: every object has just the fields it names.

    In a strict schema all fields are required; what has a default is to be written out. ``limits`` of length and
    number stay in it only where they are asked for.
    """
    schema = form.model_json_schema()
    return _stricter(schema, _TOLD if limits else _TOLD | _LIMITS), not _is_open(schema)


def _stricter(node: Any, without: frozenset[str], *, names: bool = False) -> Any:
    """A part of a schema; ``names`` where its keys are names of fields and no keywords."""
    if isinstance(node, list):
        return [_stricter(one, without) for one in node]
    if not isinstance(node, dict):
        return node
    if names:
        return {name: _stricter(value, without) for name, value in node.items()}
    out = {
        key: _stricter(value, without, names=key in ("properties", "$defs"))
        for key, value in node.items()
        if key not in without
    }
    if "properties" in out:
        out |= {"additionalProperties": False, "required": list(out["properties"])}
    return out


def _is_open(node: Any) -> bool:
    """Whether there is an object in it with fields of any name."""
    if isinstance(node, list):
        return any(_is_open(one) for one in node)
    if not isinstance(node, dict):
        return False
    if node.get("type") == "object" and "properties" not in node:
        return True
    return bool(node.get("additionalProperties")) or any(_is_open(value) for value in node.values())
