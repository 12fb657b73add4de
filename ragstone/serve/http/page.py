"""The page that comes with the package: files, served as they are."""

from __future__ import annotations

from pathlib import Path

from fastapi import FastAPI
from fastapi.staticfiles import StaticFiles
from starlette.responses import Response
from starlette.types import Scope

FOLDER = Path(__file__).parent.parent / "page"
LASTING = "public, max-age=31536000, immutable"
"""Files under ``assets/`` have a hash of their content in their names."""


class _Files(StaticFiles):
    async def get_response(self, path: str, scope: Scope) -> Response:
        response = await super().get_response(path, scope)
        response.headers["cache-control"] = LASTING if path.startswith("assets/") else "no-cache"
        return response


def files(folder: Path = FOLDER) -> frozenset[str]:
    """The addresses of the page: none where it was not built."""
    if not (folder / "index.html").is_file():
        return frozenset()
    paths = (file.relative_to(folder).as_posix() for file in folder.rglob("*") if file.is_file())
    return frozenset({"/", *(f"/{path}" for path in paths)})


def mount(app: FastAPI, folder: Path = FOLDER) -> None:
    """Serve the page at ``/``. To be called last: what is mounted there answers for every address not known before."""
    if files(folder):
        app.mount("/", _Files(directory=folder, html=True), name="page")
