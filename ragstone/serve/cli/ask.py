"""Commands that ask: ask, chat, search."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ragstone.core.access import Reader
from ragstone.serve.cli import typed
from ragstone.serve.cli.models import mention_model
from ragstone.serve.cli.options import (
    DEFAULT_KB,
    As,
    Asked,
    Explain,
    Json,
    Kb,
    Session,
    Where,
    opened,
    with_question_settings,
    with_settings,
)

if TYPE_CHECKING:
    from ragstone.engine.knowledge_base import KnowledgeBase

Add = Annotated[
    list[str] | None,
    typer.Option("--add", metavar="SOURCE", help="First add these files or folders; may be repeated."),
]


Picture = Annotated[
    Path | None,
    typer.Option(
        "--picture", metavar="FILE", exists=True, dir_okay=False, help="A picture that the question is about."
    ),
]


@with_settings
def ask(
    question: Annotated[str, typer.Argument(metavar="QUESTION", help="In quotes.", show_default=False)],
    asked: Asked,
    kb: Kb = DEFAULT_KB,
    add: Add = None,
    picture: Picture = None,
    where: Where = None,
    session: Session = "",
    groups: As = None,
    explain: Explain = False,
    as_json: Json = False,
) -> None:
    """Answer a question from the documents, with sources.

    If the documents do not answer it, the answer says so. Chunk options need --add and a new knowledge base. If there
    is no knowledge base, the command creates one from the sources in the settings.
    """
    from ragstone.serve import as_json as json
    from ragstone.serve.cli import screen
    from ragstone.serve.views import answers

    asked = _add(add, asked, kb)
    with opened(kb, asked) as opened_kb:
        shown = picture.read_bytes() if picture else b""
        events = opened_kb.stream(typed.text(question), where, session=session, reader=Reader.of(groups), picture=shown)
        answer = asyncio.run(screen.watch(events, quiet=as_json))
        settings, rated = opened_kb.settings, opened_kb.learning.is_on
    respond = settings.respond
    if as_json:
        screen.write_json(json.answer(answer, explain=explain, metadata=respond.metadata))
        return
    screen.write(answers.answer(answer, shown=respond.shown, explain=explain, rated=rated))
    screen.write(answers.notices(answer), sys.stderr)
    mention_model(kb, settings)


@with_settings
def chat(
    asked: Asked,
    kb: Kb = DEFAULT_KB,
    add: Add = None,
    where: Where = None,
    session: Session = "",
    groups: As = None,
) -> None:
    """Ask several questions; each may refer to earlier ones.

    Type /help at the prompt for its commands. You can also pipe questions in, one per line. Chunk options need --add
    and a new knowledge base.
    """
    from ragstone.serve.cli.prompt import Chat

    def open_kb(overrides: Sequence[str]) -> KnowledgeBase:
        return replace(asked, overrides=tuple(overrides)).open(kb)

    asked = _add(add, asked, kb)
    Chat(open_kb, asked.overrides, where, session, Reader.of(groups)).run()


@with_question_settings
def search(
    query: Annotated[str, typer.Argument(metavar="QUERY", help="In quotes.", show_default=False)],
    asked: Asked,
    k: Annotated[int | None, typer.Option("-k", metavar="N", help="Number of chunks. Default: rank.top_k.")] = None,
    kb: Kb = DEFAULT_KB,
    where: Where = None,
    groups: As = None,
    explain: Explain = False,
    as_json: Json = False,
) -> None:
    """List the best matching chunks."""
    from ragstone.serve import as_json as json
    from ragstone.serve.cli import screen
    from ragstone.serve.views import answers

    with opened(kb, asked) as opened_kb:
        hits = asyncio.run(opened_kb.search(typed.text(query), k, where, reader=Reader.of(groups)))
        metadata = opened_kb.settings.respond.metadata
    found = [json.hit(hit, rank, explain=explain, metadata=metadata) for rank, hit in enumerate(hits, start=1)]
    shown = answers.found(hits, explain=explain)
    told = {"query": typed.text(query), "hits": found, "note": json.search_note(hits)}
    screen.show(told, shown, as_json=as_json)


def _add(sources: list[str] | None, asked: Asked, kb: Path) -> Asked:
    """Add the sources of ``--add``, or those of the settings to a new knowledge base, and report to standard error.

    Return the settings for the following commands.
    """
    if not sources and (kb / "CURRENT").is_file():
        return asked
    settings = asked.acquire(kb)
    sources = sources or list(settings.sources)
    if not sources:
        return asked
    from ragstone.engine.sources import refuse_unreadable
    from ragstone.serve.cli import screen
    from ragstone.serve.views import stored

    refuse_unreadable(sources, settings)
    with opened(kb, asked, create=True) as opened_kb, screen.progress() as on_progress:
        report = asyncio.run(opened_kb.documents.add(sources, on_progress))
    screen.write(stored.ingested(report, str(kb)), sys.stderr)
    return replace(asked, notices=False)
