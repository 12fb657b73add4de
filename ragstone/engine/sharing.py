"""Conversations shared by a link: what a reader sees, and copies to continue from.

An answer is shown or withheld as a whole, by what its reader may read now. A quoted answer depends on its citations, a
model's answer on all its evidence. Other answers reveal something about all documents that their asker could read, such
as their number, or that none mentions a word; only readers who are in all groups of the asker see them.

Files that are attached to a conversation are for its person alone, whoever else may read everything. A model knew the
earlier answers of its conversation, so what it wrote while files were attached, or later, is withheld from everybody
else, even if the files and the answers from them are erased by now.
"""

from __future__ import annotations

import uuid
from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any

from ragstone.core.access import READERS, Reader, conversation_group, owner_of
from ragstone.core.answers import EXTRACTIVE, Turn
from ragstone.core.errors import NotFound
from ragstone.core.frozen import frozen
from ragstone.core.records import WEB, Chunk, Hit
from ragstone.engine.attached import attached_to, is_within
from ragstone.engine.components import Components
from ragstone.engine.replied import hits_of_passages
from ragstone.history.conversations import StoredTurn
from ragstone.history.erasing import ERASED
from ragstone.history.responses import Response
from ragstone.history.shares import Copied, Share

LOOKED_UP = "catalog"
"""The ``model`` of an answer that was looked up; besides that, no model wrote `EXTRACTIVE` ones."""
COURTESIES = ("greeting", "thanks", "goodbye")
"""Kinds of replies that depend on no document."""
OF_DOCUMENTS = ("document", "summary", "comparison")
"""Kinds of replies that depend only on the documents they cite."""


@frozen
class SharedTurn:
    """A turn of a shared conversation as one reader sees it.

    Without ``text``, the answer is withheld. ``answer`` is its JSON without the asker's private data, and ``hits`` the
    evidence that is still stored; both are missing if only the text is stored.
    """

    at: float
    question: str
    text: str | None
    answer: Mapping[str, Any] | None = None
    hits: tuple[Hit, ...] = ()


@frozen
class _Kept:
    """A turn with its complete answer, if that is stored."""

    said: StoredTurn
    response: Response | None


def shared_turns(version: Components, secret: str, reader: Reader) -> list[SharedTurn]:
    """Return the turns of the conversation that a link shows, oldest first.

    Raises:
        NotFound: there is no such link, or it has expired.
    """
    return [_shown(version, one, may, reader) for one, may in _turns(version, secret, reader)]


def copy_shared(version: Components, secret: str, reader: Reader) -> str:
    """Copy what this reader sees of a shared conversation into one of their own, and return its name.

    Raises:
        NotFound: there is no such link, it has expired, or this reader may read none of its answers.
    """
    copied: list[Copied] = []
    for shared, may in _turns(version, secret, reader):
        if may:
            copied.append(
                Copied(
                    at=shared.said.at,
                    turn=Turn(question=shared.said.question, answer=shared.said.answer),
                    response=_copied(_within(version, shared.response, reader)) if shared.response else None,
                )
            )
    if not copied:
        raise NotFound("you may read none of these answers, so there is nothing to continue")
    name = uuid.uuid4().hex
    version.history.shares().copy(copied, reader.session(name), reader)
    return name


def _turns(version: Components, secret: str, reader: Reader) -> list[tuple[_Kept, bool]]:
    """Return the turns that a link shows, and whether this reader may see each answer."""
    share = version.history.shares().find(secret)
    kept = _kept(version, share) if share else []
    if share is None or not kept:
        raise NotFound("there is no such shared conversation; the link was revoked, or it has expired")
    out: list[tuple[_Kept, bool]] = []
    withheld = False
    for turn in kept:
        may = turn.response is not None and _may_see(version, turn.response, share, reader, withheld)
        withheld = withheld or not may
        out.append((turn, may))
    return out


def _kept(version: Components, share: Share) -> list[_Kept]:
    responses, owner = version.history.responses(), owner_of(share.session)
    return [
        _Kept(said=said, response=responses.find(said.response_id, owner) if said.response_id else None)
        for said in version.history.conversations().turns(share.session, owner, share.newest)
    ]


def _may_see(version: Components, response: Response, share: Share, reader: Reader, withheld: bool) -> bool:
    """Return whether a reader may see an answer; ``withheld`` says that they may not see all earlier ones."""
    answer = response.answer
    if answer["answer"] == ERASED:
        return False
    is_written = answer["model"] not in (EXTRACTIVE, LOOKED_UP)
    if answer.get("kind") in COURTESIES and not is_written:
        return True
    tells_of_all = _tells_of_all(answer)
    if (is_written and withheld) or (response.is_private and (is_written or tells_of_all)):
        return False
    if reader.groups is None:
        return _may_see_all(version, response, share, reader)
    needed = _needed(response)
    chunks = _readable(version, needed, reader)
    if len(chunks) < len(needed):
        return False
    if not tells_of_all:
        return _has_evidence(response)
    asker = response.asker
    is_in_all = asker is not None and asker.groups is not None and asker.groups <= reader.groups
    return is_in_all and (_has_evidence(response) or answer["outcome"] == "refusal")


def _tells_of_all(answer: Mapping[str, Any]) -> bool:
    """Return whether an answer tells of all documents that its asker could read, and not only of those it quotes."""
    is_of_documents = answer["outcome"] == "reply" and answer.get("kind") in OF_DOCUMENTS
    return answer["outcome"] != "answer" and not is_of_documents


def _has_evidence(response: Response) -> bool:
    """Return whether an answer names documents by which it can be compared with what a reader may read now."""
    return bool(response.answer["citations"] or response.passages)


def _may_see_all(version: Components, response: Response, share: Share, reader: Reader) -> bool:
    """Return whether a reader of everything may see an answer: unless it depends on what is or was attached."""
    group = conversation_group(share.session)
    read = {one.document_id for one in response.passages} | {one["document_id"] for one in response.answer["citations"]}
    if any(is_within(id, group) for id in read):  # also if it is not attached any more
        return False
    if not response.is_private and not attached_to(version.catalog, group):
        return True
    if not _has_evidence(response) and response.answer["outcome"] != "refusal":
        return False  # it may name all documents
    ids = _needed(response) | {one.chunk_id for one in response.passages if not one.chunk_id.startswith(WEB)}
    return len(_readable(version, ids, reader)) == len(ids)


def _needed(response: Response) -> set[str]:
    """Return the ids of the stored chunks that an answer depends on."""
    answer = response.answer
    needed = {one["chunk_id"] for one in answer["citations"]}
    needed |= {step[name] for step in answer.get("steps", ()) for name in ("target", "source")}
    if (answer["model"], answer["outcome"]) != (EXTRACTIVE, "answer"):
        needed |= {one.chunk_id for one in response.passages}
    return {one for one in needed if one and not one.startswith(WEB)}


def _readable(version: Components, ids: Collection[str], reader: Reader) -> dict[str, Chunk]:
    """Return the chunks that are still stored and that a reader may read.

    A chunk's id depends on its text, so a stored chunk is unchanged.
    """
    chunks = version.catalog.chunks_by_id([*ids])
    groups = version.catalog.access_groups([*{one.document_id for one in chunks.values()}])
    return {
        id: one
        for id, one in chunks.items()
        if one.document_id not in groups or reader.may_read({READERS: groups[one.document_id]})
    }


def _within(version: Components, response: Response, reader: Reader) -> Response:
    """Return an answer without the additional sources and passages that a reader may not read."""
    if reader.groups is None:
        return response
    readable = _readable(version, {one.chunk_id for one in response.passages}, reader)
    cited = {one["document_id"] for one in response.answer["citations"]}
    documents = cited | {one.document_id for one in readable.values()}
    sources = [one for one in response.answer["sources"] if one["type"] == "web" or one["document_id"] in documents]
    passages = tuple(one for one in response.passages if one.chunk_id in readable or one.chunk_id.startswith(WEB))
    return replace(response, answer={**response.answer, "sources": sources}, passages=passages)


def _shown(version: Components, kept: _Kept, may: bool, reader: Reader) -> SharedTurn:
    message = kept.said
    if not may:
        return SharedTurn(at=message.at, question=message.question, text=None)
    if kept.response is None:
        return SharedTurn(at=message.at, question=message.question, text=message.answer)
    response = _within(version, kept.response, reader)
    found = hits_of_passages(version.catalog, response.passages)
    hits = tuple(replace(hit, why=()) for hit in found)  # which tells what else was searched for
    return SharedTurn(
        at=message.at, question=message.question, text=message.answer, answer=_plain(response.answer), hits=hits
    )


def _plain(answer: Mapping[str, Any], response_id: str = "") -> dict[str, Any]:
    """Return an answer without the asker's private data: costs, notices, votes and learning."""
    usage = {name: None if name == "cost" else type(value)() for name, value in answer["usage"].items()}
    return {
        **answer,
        "kind": answer.get("kind", "question"),
        "response_id": response_id,
        "judge_scores": None,
        "timings_ms": {},
        "usage": {**usage, "cost": 0.0},
        "notices": [],
        "policy": 0,
        "steps": [],
    }


def _copied(response: Response) -> Response | None:
    """Return an answer under a new id; None for a refusal, which would count as unanswered a second time."""
    if response.answer["outcome"] == "refusal":
        return None
    id = uuid.uuid4().hex
    return replace(response, response_id=id, answer=_plain(response.answer, id), considered=(), feedback=())
