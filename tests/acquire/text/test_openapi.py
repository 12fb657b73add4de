"""Descriptions of HTTP interfaces are read as the reference that people read."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from ragstone.acquire.readers.text import openapi
from ragstone.core.records import Document, Skipped

SHOP: dict[str, Any] = {
    "openapi": "3.1.0",
    "info": {"title": "Bike shop", "version": "2.4", "description": "Orders and repairs."},
    "servers": [{"url": "https://shop.example"}],
    "paths": {
        "/orders/{id}": {
            "parameters": [{"name": "id", "in": "path", "required": True, "schema": {"type": "integer"}}],
            "delete": {
                "summary": "Cancel an order",
                "description": "An order can be cancelled until it is packed.",
                "parameters": [
                    {"name": "reason", "in": "query", "schema": {"enum": ["late", "wrong"], "default": "late"}}
                ],
                "responses": {"200": {"description": "The order."}, "409": {"$ref": "#/components/responses/Packed"}},
            },
        }
    },
    "components": {
        "schemas": {
            "Order": {
                "type": "object",
                "required": ["bike"],
                "properties": {
                    "bike": {"type": "string", "description": "name of the model", "maxLength": 80},
                    "notes": {"anyOf": [{"type": "array", "items": {"type": "string"}}, {"type": "null"}]},
                    "buyer": {"properties": {"city": {"type": "string", "title": "Where they live"}}},
                },
            }
        },
        "responses": {"Packed": {"description": "It was packed already."}},
    },
}
REFERENCE = """\
Bike shop

Orders and repairs.

- version: 2.4
- openapi: 3.1.0
- servers: [{"url": "https://shop.example"}]

/orders/{id}

Parameters:
- `id` (path, required, integer)

DELETE /orders/{id}: Cancel an order

An order can be cancelled until it is packed.

Parameters:
- `reason` (query, one of late, wrong, default late)
- Response 200: The order.
- Other responses: 409 (Packed)

Order (schema)

- Type: object
- `bike` (required, string, maxLength 80): name of the model
- `notes` (array of string or null)
- `buyer`
- `buyer.city` (string): Where they live

Packed (response)

It was packed already."""


def test_json_and_yaml_read_the_same(read_all: Callable[..., list[Document | Skipped]]) -> None:
    for name, content in (
        ("shop.json", json.dumps(SHOP)),
        ("shop.yaml", "# for the web site\n" + yaml.safe_dump(SHOP, sort_keys=False)),
    ):
        [document] = read_all(name, content)
        assert isinstance(document, Document)
        assert document.text == REFERENCE
        assert (document.title, document.metadata["kind"]) == ("Bike shop", "openapi")
        assert [mark.label for mark in document.marks if mark.kind == "heading"][2] == (
            "DELETE /orders/{id}: Cancel an order"
        )


def test_other_yaml_stays_as_it_is_written(read_all: Callable[..., list[Document | Skipped]]) -> None:
    for text in ("openapi: 3.1.0\nteam: shop\n", "openapi: 3.1.0\npaths: [\n"):
        [document] = read_all("settings.yaml", text)
        assert isinstance(document, Document)
        assert document.text == text


@pytest.mark.parametrize("key", ["properties", "items", "anyOf"])
def test_endless_values_end(key: str) -> None:
    node: dict[str, Any] = {"type": "array"}
    node[key] = {"properties": {"again": node}, "items": node, "anyOf": [node]}[key]
    content = {"openapi": "3.1.0", "components": {"schemas": {"Loop": node}}}
    assert "deeply nested value" in str(openapi.parsed(content, {}).facts["partial"])


INVENTED = re.compile("[a-j]{3,8}")
WORDS = st.text("abcdefghij", min_size=3, max_size=8)
SCHEMAS = st.recursive(
    st.fixed_dictionaries({"type": WORDS, "description": WORDS}, optional={"default": WORDS, "title": WORDS}),
    lambda inner: st.one_of(
        st.fixed_dictionaries({"properties": st.dictionaries(WORDS, inner, max_size=3)}),
        st.fixed_dictionaries({"type": st.just("array"), "items": inner}),
        st.fixed_dictionaries({"anyOf": st.lists(inner, max_size=2)}),
    ),
    max_leaves=6,
)


@given(st.dictionaries(WORDS, SCHEMAS, min_size=1, max_size=3), SCHEMAS, WORDS)
def test_no_word_is_lost(shared: dict[str, Any], asked: dict[str, Any], word: str) -> None:
    body = {"description": word, "content": {"application/json": {"schema": asked}}}
    content: Any = {
        "swagger": "2.0",
        "paths": {"/x": {"post": {"requestBody": body, "x-note": [word], "responses": {"200": body}}}},
        "definitions": shared,
    }
    read = openapi.parsed(content, {})
    assert [one for one in words_of(content) if one not in read.text] == []
    assert "partial" not in read.facts


def words_of(value: Any) -> Iterator[str]:
    """Yield the invented words in values and names."""
    if isinstance(value, dict):
        yield from (part for pair in value.items() for one in pair for part in words_of(one))
    elif isinstance(value, list):
        yield from (part for one in value for part in words_of(one))
    elif INVENTED.fullmatch(value):
        yield value
