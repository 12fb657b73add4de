"""The command that answers with more than one search: research."""

from __future__ import annotations

import asyncio
import signal
import sys
import threading
from collections.abc import AsyncGenerator, Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ragstone.core.access import Reader
from ragstone.serve.cli import typed
from ragstone.serve.cli.options import (
    DEFAULT_KB,
    As,
    Asked,
    Json,
    Kb,
    Session,
    Where,
    opened,
    with_question_settings,
)

if TYPE_CHECKING:
    from ragstone.core.answers import Answer
    from ragstone.core.research import Effort, Notebook, ResearchEvent

EffortOption = Annotated[
    str, typer.Option("--effort", metavar="quick|thorough|research", help="How much work the question is worth.")
]
Seconds = Annotated[float | None, typer.Option("--seconds", min=1, help="Maximum seconds.", show_default=False)]
Calls = Annotated[
    int | None, typer.Option("--calls", min=0, help="Maximum calls of language models.", show_default=False)
]
Tokens = Annotated[
    int | None, typer.Option("--tokens", min=0, help="Maximum tokens of language models.", show_default=False)
]
Money = Annotated[
    float | None,
    typer.Option("--money", min=0, help="Stop at this cost, in the currency of the prices.", show_default=False),
]
Report = Annotated[
    Path | None,
    typer.Option(
        "--report",
        metavar="FILE",
        help="Write a report with a section for each document to this file: .md, .html or .docx (Word).",
        show_default=False,
    ),
]
Csv = Annotated[
    Path | None,
    typer.Option("--csv", metavar="FILE", help="Write a list or a comparison to this file.", show_default=False),
]


@with_question_settings
def research(
    question: Annotated[str, typer.Argument(metavar="QUESTION", help="In quotes.", show_default=False)],
    asked: Asked,
    effort: EffortOption = "research",
    seconds: Seconds = None,
    calls: Calls = None,
    tokens: Tokens = None,
    money: Money = None,
    csv: Csv = None,
    report: Report = None,
    kb: Kb = DEFAULT_KB,
    where: Where = None,
    session: Session = "",
    groups: As = None,
    as_json: Json = False,
) -> None:
    """Answer a question with several searches. Also lists all documents that fit, or compares things in a table.

    The expected cost and each step go to standard error. Ctrl-C ends the search and answers from what was found so far;
    a second Ctrl-C ends the command.
    """
    from ragstone.core.research import budget_of
    from ragstone.serve import as_json as json
    from ragstone.serve.as_csv import csv_of
    from ragstone.serve.as_report import refuse_unwritable, write_report
    from ragstone.serve.cli import screen
    from ragstone.serve.views import answers

    level = _level(effort)
    if report:
        refuse_unwritable(report)
    budget = budget_of(level, seconds=seconds, calls=calls, tokens=tokens, money=money)
    with opened(kb, asked) as opened_kb:
        stop = threading.Event()
        events = opened_kb.research(
            typed.text(question),
            where,
            reader=Reader.of(groups),
            effort=level,
            budget=budget,
            session=session,
            is_stopped=stop.is_set,
            report=report is not None,
        )
        answer, notebooks = asyncio.run(_watched(events, stop, quiet=as_json))
        respond = opened_kb.settings.respond
    if not as_json:
        screen.write(answers.answer(answer, shown=respond.shown))
        screen.write(answers.notices(answer), sys.stderr)
    if csv:
        csv.write_text(csv_of(notebooks), encoding="utf-8")
    if report:
        write_report(report, answer)
    if as_json:
        notes = [json.notebook(one) for one in notebooks]
        screen.write_json({**json.answer(answer, metadata=respond.metadata), "research": notes})


def _level(typed_effort: str) -> Effort:
    from ragstone.core.errors import UsageError
    from ragstone.core.research import EFFORTS

    for effort in EFFORTS:
        if effort == typed_effort:
            return effort
    raise UsageError(f"--effort {typed_effort} does not exist; choose {', '.join(EFFORTS)}")


async def _watched(
    events: AsyncGenerator[ResearchEvent], stop: threading.Event, *, quiet: bool
) -> tuple[Answer, Sequence[Notebook]]:
    """Return the answer and the notebooks; report each step to standard error."""
    from ragstone.core.answers import answer_in
    from ragstone.core.research import ActionTaken, Forecast, Researched
    from ragstone.serve.cli import screen
    from ragstone.serve.views import research

    notebooks: Sequence[Notebook] = ()

    async def heard(event: ResearchEvent) -> None:
        nonlocal notebooks
        match event:
            case Forecast() | ActionTaken() if not quiet:
                screen.write(research.progress(event), sys.stderr)
            case Researched():
                notebooks = event.notebooks
            case _:
                pass

    with _stopping(stop):
        answer = await answer_in(events, heard)
    return answer, notebooks


@contextmanager
def _stopping(stop: threading.Event) -> Generator[None]:
    """Let the first Ctrl-C set ``stop``; the second one ends the command."""
    loop = asyncio.get_running_loop()

    def first() -> None:
        stop.set()
        loop.remove_signal_handler(signal.SIGINT)

    try:
        loop.add_signal_handler(signal.SIGINT, first)
    except (NotImplementedError, RuntimeError, ValueError):  # not POSIX, or not in the main thread
        yield
        return
    try:
        yield
    finally:
        loop.remove_signal_handler(signal.SIGINT)
