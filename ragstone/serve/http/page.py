"""The files of the page, as they were built."""

from __future__ import annotations

from pathlib import Path

from fastapi.staticfiles import StaticFiles
from starlette.responses import Response
from starlette.types import Scope

PAGE = Path(__file__).parent.parent / "page"
IMMUTABLE = "public, max-age=31536000, immutable"
"""The name of a file in ``assets/`` contains a hash of its content."""


class PageFiles(StaticFiles):
    """The application that serves them."""

    async def get_response(self, path: str, scope: Scope) -> Response:
        response = await super().get_response(path, scope)
        response.headers["cache-control"] = IMMUTABLE if path.startswith("assets/") else "no-cache"
        return response


def page_files() -> frozenset[str]:
    """Return the addresses of the page's files; none if the page was not built."""
    if not (PAGE / "index.html").is_file():
        return frozenset()
    paths = (file.relative_to(PAGE).as_posix() for file in PAGE.rglob("*") if file.is_file())
    return frozenset({"/", *(f"/{path}" for path in paths)})
