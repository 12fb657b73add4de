"""The chat on other sites: its script, and tokens for those who visit a site."""

from __future__ import annotations

import asyncio
from typing import Annotated

from fastapi import APIRouter
from fastapi.responses import FileResponse
from pydantic import Field

from ragstone.core.errors import NotFound, UsageError
from ragstone.serve.http import errors
from ragstone.serve.http.authentication import MakingTokens
from ragstone.serve.http.errors import Refused
from ragstone.serve.http.messages import Request, Response
from ragstone.serve.http.page import PAGE
from ragstone.serve.http.routes.ask import PRINTABLE
from ragstone.serve.http.service import Here, Service
from ragstone.serve.http.visitors import OFF, visitor_id

SCRIPT = "widget.js"
CACHED = "public, max-age=3600"


# ---------------------------------------------------------------- messages
class NewToken(Request):
    """A visitor of a site. Without groups, they read only documents that everyone may read."""

    visitor: Annotated[str, Field(min_length=1, max_length=200, pattern=PRINTABLE)] = Field(
        description="what the site calls its visitor, such as a number; conversations and limits are kept by it"
    )
    groups: Annotated[list[Annotated[str, Field(min_length=1, max_length=200)]], Field(max_length=100)] = Field(
        default=[], description="groups whose documents the visitor may read, all of them groups of the key"
    )


class MadeToken(Response):
    """A token for the visitor's browser, and the seconds after which it is over."""

    token: str
    expires_in: float
    visitor: str = Field(description="tells visitors apart; the chat goes on with a conversation of the same one only")


# ---------------------------------------------------------------- routes
router = APIRouter(tags=["widget"])


@router.post("/tokens", status_code=201, responses={**errors.CHANGING})
async def make_token(body: NewToken, service: Here, caller: MakingTokens) -> MadeToken:
    """Make a token with which a visitor's browser may ask. A site's server calls this; the key stays with it."""
    _check_on(service)
    if caller.key is None or caller.session:
        raise Refused("forbidden", "tokens are made with a key: ragstone key make NAME --scope tokens")
    seconds = service.settings.widget.token_minutes * 60
    try:
        token = await asyncio.to_thread(service.tokens.make, caller.key, body.visitor, body.groups, seconds)
    except UsageError as error:
        raise Refused("forbidden", str(error)) from error
    visitor = visitor_id(f"{caller.key.id}:{body.visitor}")
    return MadeToken(token=token, expires_in=seconds, visitor=visitor)


@router.get("/widget.js", response_class=FileResponse, responses={**errors.READING})
async def script(service: Here) -> FileResponse:
    """Return the script that shows the chat on another site."""
    _check_on(service)
    if not (PAGE / SCRIPT).is_file():
        raise NotFound("the page was not built; run, in web/: npm run build")
    # Pages of any origin may load it, because who may ask is checked when they do.
    headers = {"cross-origin-resource-policy": "cross-origin", "cache-control": CACHED}
    return FileResponse(PAGE / SCRIPT, media_type="text/javascript", headers=headers)


def _check_on(service: Service) -> None:
    if not service.settings.widget.enabled:
        raise NotFound(OFF)
