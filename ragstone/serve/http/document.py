"""The OpenAPI document, which clients are made from."""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from pydantic.json_schema import models_json_schema

import ragstone
from ragstone.serve.http.openai_errors import PREFIX
from ragstone.serve.http.wire.asking import QueryEvents
from ragstone.serve.http.wire.jobs import JobEvents
from ragstone.serve.http.wire.openai import CompletionChunk, Failed

ABOUT = """\
Answers questions from your own documents and shows the exact words each answer rests on.

Characters are counted as Unicode code points. Texts are data and never HTML. Errors have one form: see Problem.
"""
EVENTS = (QueryEvents, JobEvents, CompletionChunk, Failed)
"""Types of what streams tell, which no route gives back as its body."""
_NAME = "#/components/schemas/{model}"


def install(app: FastAPI) -> None:
    """Let the application describe itself so."""

    def openapi() -> dict[str, Any]:
        if app.openapi_schema is None:
            app.openapi_schema = _document(app)
        return app.openapi_schema

    app.openapi = openapi


def _document(app: FastAPI) -> dict[str, Any]:
    told = get_openapi(title="Ragstone", version=ragstone.__version__, description=ABOUT, routes=app.routes)
    _, more = models_json_schema([(one, "serialization") for one in EVENTS], ref_template=_NAME)
    schemas = told["components"]["schemas"]
    for name, schema in more["$defs"].items():
        schemas.setdefault(name, schema)
    for path, operations in told["paths"].items():
        form = "Failed" if path.startswith(PREFIX) else "Problem"
        for operation in operations.values():
            for status, response in operation["responses"].items():
                # Errors are JSON, whatever else a route gives.
                if status >= "4" and path != "/ready":
                    response["content"] = {"application/json": {"schema": {"$ref": _NAME.format(model=form)}}}
    for name in ("HTTPValidationError", "ValidationError"):
        schemas.pop(name, None)  # errors of that kind have the one form, too
    told["components"]["schemas"] = dict(sorted(schemas.items()))
    return told
