"""The OpenAPI document, which clients are generated from, and a page of it for people."""

from __future__ import annotations

from html import escape
from typing import Any, cast

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from fastapi.responses import HTMLResponse
from pydantic.json_schema import models_json_schema

import ragstone
from ragstone.serve.http.errors import OPENAI_PREFIX, Failed, Problem
from ragstone.serve.http.routes.ask import QueryEvents
from ragstone.serve.http.routes.jobs import JobEvents
from ragstone.serve.http.routes.openai_messages import CompletionChunk
from ragstone.serve.http.routes.openai_responses_messages import ErrorEvent, ResponseEvent

ABOUT = """\
Answers questions from your own documents and shows the exact words each answer rests on.

Characters are counted as Unicode code points. Texts are data and never HTML. All errors have the form Problem.
"""
OTHERS = (Problem, QueryEvents, JobEvents, CompletionChunk, Failed, ResponseEvent, ErrorEvent)
"""Models of errors and of streamed events, which no route returns as its body."""
_REFERENCE = "#/components/schemas/{model}"
_SCHEMA = {"type", "anyOf", "oneOf", "allOf", "$ref", "enum", "const", "additionalProperties"}
"""Keywords, one of which a schema has."""


def install(app: FastAPI) -> None:
    """Make the application return this document, and at ``/docs`` the page, which loads nothing from other servers."""

    def openapi() -> dict[str, Any]:
        if app.openapi_schema is None:
            app.openapi_schema = _document(app)
        return app.openapi_schema

    app.openapi = openapi
    app.add_api_route("/docs", lambda: HTMLResponse(_page(openapi())), include_in_schema=False)


def _page(document: dict[str, Any]) -> str:
    """Return the routes of the document as HTML, each with its description, its parameters and the form of its body."""
    parts = ["<!doctype html><meta charset=utf-8><title>Ragstone: API</title><h1>Ragstone: API</h1>"]
    parts.append('<p>With all types: <a href="openapi.json">openapi.json</a>')
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            parts.append(f"<h2><code>{method.upper()} {escape(path)}</code></h2>")
            parts.append(f"<p>{escape(operation.get('description') or operation.get('summary', ''))}</p><ul>")
            for one in operation.get("parameters", ()):
                about = escape(one.get("description", ""))
                parts.append(f"<li><code>{escape(one['name'])}</code> ({one['in']}) {about}</li>")
            for kind, body in operation.get("requestBody", {}).get("content", {}).items():
                form = body["schema"].get("$ref", "").rpartition("/")[2]
                parts.append(f"<li>body: <code>{escape(form)}</code>, {escape(kind)}</li>")
            parts.append("</ul>")
    return "\n".join(parts)


def _document(app: FastAPI) -> dict[str, Any]:
    document = get_openapi(title="Ragstone", version=ragstone.__version__, description=ABOUT, routes=app.routes)
    _, others = models_json_schema([(model, "serialization") for model in OTHERS], ref_template=_REFERENCE)
    schemas = document["components"]["schemas"]
    for name, schema in others["$defs"].items():
        schemas.setdefault(name, schema)
    document["components"]["responses"] = _name_errors(document["paths"])
    for name in ("HTTPValidationError", "ValidationError"):
        schemas.pop(name, None)  # those errors have the one form, too
    document["components"]["schemas"] = dict(sorted(schemas.items()))
    _drop_titles(document)
    return document


def _drop_titles(part: Any) -> None:
    """Remove the titles of parameters, properties and schemas, which only repeat their names."""
    if isinstance(part, list):
        for item in cast(list[Any], part):
            _drop_titles(item)
    elif isinstance(part, dict):
        values = cast(dict[str, Any], part)
        if isinstance(values.get("title"), str) and values.keys() & _SCHEMA:
            del values["title"]
        for value in values.values():
            _drop_titles(value)


def _name_errors(paths: dict[str, Any]) -> dict[str, Any]:
    """Replace the error responses of every operation with references, and return the responses by their names."""
    named: dict[str, Any] = {}
    for path, operations in paths.items():
        if path == "/ready":  # its 503 has the form of its success
            continue
        form = "Failed" if path.startswith(OPENAI_PREFIX) else "Problem"
        for operation in operations.values():
            responses = operation["responses"]
            for status in [status for status in responses if status >= "4"]:
                name = form + status
                # Errors are JSON, even on routes whose other responses are not.
                content = {"application/json": {"schema": {"$ref": _REFERENCE.format(model=form)}}}
                named[name] = {"description": responses[status]["description"], "content": content}
                responses[status] = {"$ref": f"#/components/responses/{name}"}
    return dict(sorted(named.items()))
