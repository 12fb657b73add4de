"""Collections: a filter on the documents under a name, with who sees it and its own first questions."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Annotated

from fastapi import APIRouter
from fastapi import Path as Parameter
from pydantic import Field, ValidationError

from ragstone.core.errors import NotFound
from ragstone.query.where import parse, refuse_paths
from ragstone.serve.http import errors
from ragstone.serve.http.authentication import Administering, Caller, Reading, admin_router
from ragstone.serve.http.errors import Refused
from ragstone.serve.http.live_settings import COLLECTIONS
from ragstone.serve.http.messages import Request, Response
from ragstone.serve.http.routes.ask import FilterText, QuestionText
from ragstone.serve.http.service import Here, Service

Group = Annotated[str, Field(min_length=1, max_length=200)]
NAME = r"^[^\x00-\x1f\x7f/]*[^\s\x00-\x1f\x7f/][^\x00-\x1f\x7f/]*$"


# ---------------------------------------------------------------- messages
class NewCollection(Request):
    """A collection."""

    name: Annotated[str, Field(min_length=1, max_length=60, pattern=NAME)]
    where: Annotated[FilterText, Field(min_length=1, description="its documents, such as: kind = pdf")]
    groups: Annotated[list[Group], Field(max_length=100)] | None = Field(
        default=None, description="groups that see it; null for everybody. What they may read is up to the documents"
    )
    questions: Annotated[list[QuestionText], Field(max_length=10)] = Field(
        default=[], description="first questions; without any, some are found"
    )
    replace: bool = Field(default=False, description="whether it may replace one of the same name")


class Collection(Response):
    """A collection, as its readers see it."""

    name: str
    where: str
    groups: list[str] | None
    questions: list[str]


class CollectionList(Response):
    """The collections that the caller sees, by name."""

    collections: list[Collection]


# ---------------------------------------------------------------- routes
router = APIRouter(tags=["asking"])
changing = admin_router()


@router.get("/collections", responses={**errors.READING})
async def collections(service: Here, caller: Reading) -> CollectionList:
    """Return the collections that the caller may choose: pass the `where` of one with a question."""
    return CollectionList(collections=[one for one in await _all(service) if _sees(caller, one)])


@changing.post("/collections", status_code=204, responses={**errors.CHANGING})
async def put_collection(body: NewCollection, service: Here, caller: Administering) -> None:
    """Add or replace a collection on all servers of the knowledge base; its filter names fields that documents have."""
    where = parse(body.where)
    refuse_paths(where)
    await asyncio.to_thread(service.engine.documents.check_filter, where, reader=caller.reader)
    if not body.replace and any(one.name == body.name for one in await _all(service)):
        raise Refused("conflict", f"there is a collection '{body.name}' already; send replace: true to replace it")
    await service.live.store(f"{COLLECTIONS}{body.name}", body.model_dump_json(exclude={"replace"}))
    await service.noted(caller, "collection.change", f"{body.name} · {body.where}")


@changing.delete("/collections/{name}", status_code=204, responses={**errors.CHANGING})
async def remove_collection(
    name: Annotated[str, Parameter(min_length=1, max_length=60)], service: Here, caller: Administering
) -> None:
    """Remove a collection. Its documents stay."""
    if all(one.name != name for one in await _all(service)):
        raise NotFound(f"there is no collection '{name}'")
    await service.live.store(f"{COLLECTIONS}{name}", None)
    await service.noted(caller, "collection.remove", name)


async def _all(service: Service) -> Sequence[Collection]:
    stored = await service.live.changed()
    out: list[Collection] = []
    for path in sorted(stored):
        if path.startswith(COLLECTIONS):
            try:
                out.append(Collection.model_validate_json(str(stored[path].value)))
            except ValidationError:  # another version of Ragstone stored it
                continue
    return out


def _sees(caller: Caller, one: Collection) -> bool:
    own = caller.reader.groups
    return one.groups is None or own is None or not own.isdisjoint(one.groups)
