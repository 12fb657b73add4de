"""Descriptions of HTTP interfaces (OpenAPI 2 and 3): the reference that people read, operation by operation.

As JSON or YAML, what an operation does stands among brackets and references, and a quotation of it tells little. All
words of the description are in the text; see https://spec.openapis.org/oas/latest.html.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import TypeAlias, TypeGuard, cast

from ragstone.acquire.readers.parsed import Parsed, Writer
from ragstone.acquire.readers.tables.fields import Json
from ragstone.core.records import Metadata

Node: TypeAlias = "dict[str, Json]"

BEGINS = re.compile(r"""^["']?(?:openapi|swagger)["']?[ \t]*:[ \t]*["']?[23]\.""", re.MULTILINE)
"""The line of a description in YAML that says what it is."""
_METHODS = ("get", "put", "post", "delete", "options", "head", "patch", "trace", "query")
_DEEPEST = 20
"""Levels of properties within properties; references are named, not followed."""
_STRUCTURE = ("type", "format", "enum", "const", "$ref", "items", "properties", "required", "anyOf", "oneOf", "allOf")
"""What the type of a value, and the lines of the values within it, tell."""


def is_description(content: object) -> TypeGuard[Node]:
    """Return whether the content of a file describes an interface."""
    if not isinstance(content, dict):
        return False
    node = cast("Node", content)
    version = node.get("openapi", node.get("swagger"))
    return isinstance(version, str | float) and bool(_node(node.get("paths")) or _node(node.get("components")))


def parsed(content: Node, facts: Metadata) -> Parsed:
    """Return the reference: the interface, its operations by path, then what they share, such as schemas."""
    about, writer = _node(content.get("info")), Writer()
    title = _line(about.get("title")) or "API"
    writer.heading(title, 1)
    writer.paragraph(_words(about.get("description")))
    _rest(writer, about, ("title", "description"))
    _rest(writer, content, ("info", "paths", "webhooks", "components", "definitions", "parameters", "responses"))
    for path, operations in [*_node(content.get("paths")).items(), *_node(content.get("webhooks")).items()]:
        _path(writer, path, _node(operations))
    shared = dict(_node(content.get("components")))
    shared |= {key: content[key] for key in ("definitions", "parameters", "responses") if key in content}
    for kind, named in shared.items():
        for name, one in _node(named).items():
            writer.heading(f"{name} ({kind.replace('Bodies', 'Body').removesuffix('s')})", 2)
            _shared(writer, one)
    return writer.parsed(title=title, facts={"kind": "openapi", **facts})


def _path(writer: Writer, path: str, operations: Node) -> None:
    if shared := {key: value for key, value in operations.items() if key not in _METHODS}:
        _operation(writer, path, shared)
    for method in _METHODS:
        if method in operations:
            _operation(writer, f"{method.upper()} {path}", _node(operations[method]))


def _operation(writer: Writer, name: str, operation: Node) -> None:
    summary = _line(operation.get("summary"))
    writer.heading(f"{name}: {summary}" if summary else name, 2)
    writer.paragraph(_words(operation.get("description")))
    if parameters := _nodes(operation.get("parameters")):
        writer.paragraph("Parameters:")
        for one in parameters:
            _parameter(writer, one)
    if body := _node(operation.get("requestBody")):
        _content(writer, "Request body", _line(body.get("description")), body)
    responses = _node(operation.get("responses"))
    for status, response in responses.items():
        if "$ref" not in _node(response):
            _content(writer, f"Response {status}", _line(_node(response).get("description")), _node(response))
    # The same errors of every operation, whose words stand once below "responses".
    if named := [f"{status} ({_name(_node(one))})" for status, one in responses.items() if "$ref" in _node(one)]:
        writer.item("-", f"Other responses: {', '.join(named)}")
    _rest(writer, operation, ("summary", "description", "parameters", "requestBody", "responses"))


def _parameter(writer: Writer, one: Node) -> None:
    # In version 2, a parameter is its own schema.
    own = ("name", "in", "required", "description", "schema", "$ref")
    schema = _node(one.get("schema")) or {key: value for key, value in one.items() if key not in own}
    place = [_line(one.get("in")), "required" if _is_true(one.get("required")) else ""]
    words = one.get("description") or schema.get("description")
    _value(writer, _line(one.get("name")) or _name(one), {**schema, "description": words}, place)
    if "schema" in one:
        _rest(writer, one, own)


def _content(writer: Writer, what: str, description: str, node: Node) -> None:
    """Write what a request or a response holds, in each of its forms."""
    forms = dict(_node(node.get("content")))
    if "schema" in node:
        forms[""] = {"schema": node["schema"]}
    head = ": ".join(filter(None, (what, description or _name(node))))
    kinds = [" ".join(filter(None, (form, _type(_node(_node(one).get("schema")))))) for form, one in forms.items()]
    writer.item("-", f"{head} ({'; '.join(kinds)})" if any(kinds) else head)
    for one in forms.values():
        _value(writer, "", _node(_node(one).get("schema")))
        _rest(writer, _node(one), ("schema",))
    _rest(writer, node, ("description", "content", "schema", "$ref"))


def _shared(writer: Writer, value: Json) -> None:
    """Write a schema, or another thing that operations share."""
    node = _node(value)
    if "in" in node and "name" in node:
        _parameter(writer, node)
        return
    writer.paragraph(_words(node.get("summary")))
    writer.paragraph(_words(node.get("description")))
    if "content" in node:
        _content(writer, "Content", "", node)  # its description is a paragraph of its own
        return
    if kind := _type(node):
        writer.item("-", f"Type: {kind}")
    if value is not None and not isinstance(value, dict):
        writer.item("-", _plain(value))
    _within(writer, "", node, 0)
    _rest(writer, node, ("summary", "description", *_STRUCTURE))


def _value(writer: Writer, name: str, schema: Node, place: Sequence[str] = (), depth: int = 0) -> None:
    """Write a line of what is said of a value, then the values within it.

    Args:
        writer: to write to.
        name: of the value; empty for a whole body, or one of its forms.
        schema: what is said.
        place: where the value stands, and whether it is required.
        depth: how many values it is within.
    """
    others = [f"{key} {_plain(one)}" for key, one in schema.items() if key not in ("description", "title", *_STRUCTURE)]
    title, words = _line(schema.get("title")), _line(schema.get("description"))
    if title and _letters(title) != _letters(name.rpartition(".")[2]):  # programs make titles from names
        words = f"{title}: {words}" if words else title
    if place or words or others:  # what has no name of its own may say nothing more than the line before
        facts = ", ".join(filter(None, (*place, _type(schema), *others)))
        named = f"`{name}`" if name else "Value"
        writer.item("-", ": ".join(filter(None, (f"{named} ({facts})" if facts else named, words))))
    _within(writer, name, schema, depth)


def _within(writer: Writer, name: str, schema: Node, depth: int) -> None:
    """Write the values within a value: its properties, its items, and its forms."""
    if depth > _DEEPEST:
        writer.left_out("deeply nested value")
        return
    required = schema.get("required")
    names = required if isinstance(required, list) else []
    for part, value in _node(schema.get("properties")).items():
        place = ["required"] if part in names else [""]
        _value(writer, f"{name}.{part}" if name else part, _node(value), place, depth + 1)
    if items := _node(schema.get("items")):
        _value(writer, f"{name}[]", items, depth=depth + 1)
    for key in ("allOf", "anyOf", "oneOf"):
        for one in _nodes(schema.get(key)):
            _value(writer, name, one, depth=depth + 1)


def _type(schema: Node, depth: int = 0) -> str:
    """Return the type of a value, in words; empty if it is too deep within others."""
    if depth > _DEEPEST:
        return ""
    if "$ref" in schema:
        return _name(schema)
    if "enum" in schema:
        return f"one of {_list(schema['enum'])}"
    if "const" in schema:
        return f"always {_plain(schema['const'])}"
    for key, joint in (("anyOf", " or "), ("oneOf", " or "), ("allOf", " and ")):
        names = [_type(one, depth + 1) for one in _nodes(schema.get(key))]
        if any(names):
            return joint.join(dict.fromkeys(filter(None, names)))
    kind = schema.get("type")
    if kind == "array" and (items := _type(_node(schema.get("items")), depth + 1)):
        return f"array of {items}"
    form = _line(schema.get("format"))
    named = _list(kind, " or ") if kind is not None else ""
    return f"{named} ({form})" if named and form else named or form


def _rest(writer: Writer, node: Node, told: Sequence[str]) -> None:
    """Write what else a node says, so that nothing is lost."""
    for key, value in node.items():
        if key not in told and value not in (None, "", [], {}):
            writer.item("-", f"{key}: {_plain(value)}")


def _name(node: Node) -> str:
    """Return the name that a reference ends with."""
    return _line(node.get("$ref")).rpartition("/")[2]


def _plain(value: Json) -> str:
    if isinstance(value, str):
        return " ".join(value.split()) or '""'
    if isinstance(value, list) and all(isinstance(one, str) for one in value):
        return _list(value)
    return json.dumps(value, ensure_ascii=False)


def _list(value: Json, joint: str = ", ") -> str:
    return joint.join(map(_plain, value if isinstance(value, list) else [value]))


def _words(value: Json) -> str:
    return value.strip() if isinstance(value, str) else ""


def _line(value: Json) -> str:
    return " ".join(_words(value).split())


def _letters(name: str) -> str:
    return "".join(filter(str.isalnum, name)).casefold()


def _is_true(value: Json) -> bool:
    return value is True or value == "true"  # the latter in YAML whose scalars are text


def _node(value: Json) -> Node:
    return value if isinstance(value, dict) else {}


def _nodes(value: Json) -> list[Node]:
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []
