"""Commands that ask: ask, chat, search."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Sequence
from contextlib import closing
from typing import TYPE_CHECKING, Annotated

import typer

from ragstone.access import Reader
from ragstone.errors import NotFound
from ragstone.serve import typed
from ragstone.serve.options import DEFAULT_KB, As, Asked, Explain, Json, Kb, Session, Where, open_kb, with_settings

if TYPE_CHECKING:
    from ragstone.engine import Engine


@with_settings
def ask(
    question: Annotated[str, typer.Argument(metavar="QUESTION", help="In quotes.", show_default=False)],
    asked: Asked,
    kb: Kb = DEFAULT_KB,
    where: Where = None,
    session: Session = "",
    groups: As = None,
    explain: Explain = False,
    as_json: Json = False,
) -> None:
    """Answer a question from the documents, with sources.

    Where the documents do not answer it, the answer says so.
    """
    from ragstone.serve import as_json as json
    from ragstone.serve import render, screen
    from ragstone.serve.live import watched

    reader = Reader.of(groups)
    with closing(asked.open(kb)) as engine:
        events = engine.stream(typed.text(question), where, session=session, reader=reader)
        answer = asyncio.run(watched(events, quiet=as_json))
        metadata, rated = engine.settings.respond.metadata, engine.learns
    if as_json:
        screen.write_json(json.answer(answer, explain=explain))
        return
    screen.write(render.answer(answer, metadata=metadata, explain=explain, rated=rated))
    screen.write(render.notices(answer), sys.stderr)


@with_settings
def chat(asked: Asked, kb: Kb = DEFAULT_KB, where: Where = None, session: Session = "", groups: As = None) -> None:
    """Ask questions that may lean on the ones before.

    The command /help at the prompt lists the others. Questions can also be piped in, one a line.
    """
    from ragstone.serve.prompt import Chat

    def opened(overrides: Sequence[str]) -> Engine:
        return Asked(preset=asked.preset, overrides=(*overrides,)).open(kb)

    Chat(opened, asked.overrides, where, session, Reader.of(groups)).run()


def conversations(
    kb: Kb = DEFAULT_KB,
    forget: Annotated[str, typer.Option("--forget", metavar="NAME", help="Delete this one.", show_default=False)] = "",
    groups: As = None,
    as_json: Json = False,
) -> None:
    """List the conversations that are kept, or delete one."""
    from dataclasses import asdict

    from ragstone.serve import render, screen

    reader = Reader.of(groups)
    with closing(open_kb(kb)) as engine:
        if forget and not engine.forget(forget, reader=reader):
            raise NotFound(f"there is no conversation '{forget}'; ragstone conversations lists them")
        kept = engine.conversations(reader=reader)
    if as_json:
        screen.write_json({"conversations": [asdict(one) for one in kept]})
    else:
        screen.write(render.conversations(kept))


@with_settings
def search(
    query: Annotated[str, typer.Argument(metavar="QUERY", help="In quotes.", show_default=False)],
    asked: Asked,
    k: Annotated[int | None, typer.Option("-k", metavar="N", help="How many; rank.top_k if not given.")] = None,
    kb: Kb = DEFAULT_KB,
    where: Where = None,
    groups: As = None,
    explain: Explain = False,
    as_json: Json = False,
) -> None:
    """List the chunks that match best."""
    from ragstone.serve import as_json as json
    from ragstone.serve import render, screen

    reader = Reader.of(groups)
    with closing(asked.open(kb)) as engine:
        hits = asyncio.run(engine.search(typed.text(query), k, where, reader=reader))
    if as_json:
        found = [json.hit(hit, rank, explain=explain) for rank, hit in enumerate(hits, start=1)]
        screen.write_json({"query": typed.text(query), "hits": found})
    else:
        screen.write(render.hits(hits, explain=explain))
