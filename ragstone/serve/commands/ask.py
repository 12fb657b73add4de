"""Commands that ask: ask, chat, search."""

from __future__ import annotations

import asyncio
import sys
from contextlib import closing
from typing import Annotated

import typer

from ragstone.errors import NotFound
from ragstone.serve import typed
from ragstone.serve.options import DEFAULT_KB, Asked, Explain, Json, Kb, Session, Where, open_kb, with_settings


@with_settings
def ask(
    question: Annotated[str, typer.Argument(metavar="QUESTION", help="In quotes.", show_default=False)],
    asked: Asked,
    kb: Kb = DEFAULT_KB,
    where: Where = None,
    session: Session = "",
    explain: Explain = False,
    as_json: Json = False,
) -> None:
    """Answer a question from the documents, with sources.

    Where the documents do not answer it, the answer says so.
    """
    from ragstone.serve import as_json as json
    from ragstone.serve import render, screen
    from ragstone.serve.live import watched

    with closing(asked.open(kb)) as engine:
        answer = asyncio.run(watched(engine.stream(typed.text(question), where, session=session), quiet=as_json))
        metadata = engine.settings.respond.metadata
    if as_json:
        screen.write_json(json.answer(answer, explain=explain))
        return
    screen.write(render.answer(answer, metadata=metadata, explain=explain))
    screen.write(render.notices(answer), sys.stderr)


@with_settings
def chat(asked: Asked, kb: Kb = DEFAULT_KB, where: Where = None, session: Session = "") -> None:
    """Ask questions that may lean on the ones before.

    The command /help at the prompt lists the others. Questions can also be piped in, one a line.
    """
    from ragstone.serve.prompt import Chat

    Chat(
        lambda overrides: Asked(preset=asked.preset, overrides=(*overrides,)).open(kb), asked.overrides, where, session
    ).run()


def conversations(
    kb: Kb = DEFAULT_KB,
    forget: Annotated[str, typer.Option("--forget", metavar="NAME", help="Delete this one.", show_default=False)] = "",
    as_json: Json = False,
) -> None:
    """List the conversations that are kept, or delete one."""
    from dataclasses import asdict

    from ragstone.serve import render, screen

    with closing(open_kb(kb)) as engine:
        if forget and not engine.forget(forget):
            raise NotFound(f"there is no conversation '{forget}'; ragstone conversations lists them")
        kept = engine.conversations()
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
    explain: Explain = False,
    as_json: Json = False,
) -> None:
    """List the chunks that match best."""
    from ragstone.serve import as_json as json
    from ragstone.serve import render, screen

    with closing(asked.open(kb)) as engine:
        hits = asyncio.run(engine.search(typed.text(query), k, where))
    if as_json:
        found = [json.hit(hit, rank, explain=explain) for rank, hit in enumerate(hits, start=1)]
        screen.write_json({"query": typed.text(query), "hits": found})
    else:
        screen.write(render.hits(hits, explain=explain))
