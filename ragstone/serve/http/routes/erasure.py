"""Erase documents with every trace that they left."""

from __future__ import annotations

import asyncio
import hashlib
from functools import partial
from typing import Annotated

from pydantic import Field

from ragstone.serve.http import errors
from ragstone.serve.http.authentication import Administering, admin_router
from ragstone.serve.http.messages import Request, Response
from ragstone.serve.http.service import Here

SHOWN_HASH = 12
"""Digits of the hash of a document's id in the audit log, which must not name it."""


class ToErase(Request):
    """Documents to erase."""

    documents: Annotated[
        list[Annotated[str, Field(min_length=1, max_length=2_000)]],
        Field(min_length=1, max_length=1_000, description="ids, also of documents that were removed before"),
    ]
    words: Annotated[str, Field(max_length=500_000, description="further text whose words are erased")] = ""


class Erased(Response):
    """What was erased, and the proof: a search of everything that the knowledge base stores for its words."""

    documents: list[str]
    versions: list[str]
    rows: int = Field(description="changed records of conversations and answers")
    words: int = Field(description="distinctive words that were looked for")
    searched_files: int
    searched_bytes: int
    searched_rows: int
    found: list[str] = Field(description="the places that still have some of the words; empty if all went well")
    unreachable: list[str] = Field(description="what can neither be erased nor searched from here, such as backups")
    remaining: list[str] = Field(description="files that the next sync would read again")
    seconds: float


router = admin_router()


@router.post("/forget", responses={**errors.CHANGING})
async def forget_documents(body: ToErase, service: Here, caller: Administering) -> Erased:
    """Erase documents from all versions, indexes, caches, queues, uploads and answers.

    Answers that quote them stay as answers whose source was erased. A repeated call finishes an interrupted one.
    """
    work = partial(service.engine.documents.forget, body.documents, reader=caller.reader, words=body.words)
    erased = await service.jobs.exclusively(lambda: asyncio.to_thread(work))
    hashes = (hashlib.sha256(id.encode()).hexdigest()[:SHOWN_HASH] for id in erased.documents)
    await service.noted(caller, "document.forget", ", ".join(hashes))
    return Erased.model_validate(erased, from_attributes=True)
