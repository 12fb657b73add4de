"""Question after question, at a prompt or from a file.

The commands of the prompt begin with a slash, so that everything else is a question.
"""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from ragstone.access import OWNER, Reader
from ragstone.answers import Answer, Turn
from ragstone.errors import RagstoneError, UsageError
from ragstone.serve import render
from ragstone.serve.live import watched
from ragstone.serve.screen import line, one_line, printable, write, write_error

if TYPE_CHECKING:
    from ragstone.engine import Engine

HELP = """\
/sources          what the last answer rests on
/explain          the evidence of the last answer, and how each score came about
/set path=value   change a setting for the questions that follow, such as: /set rank.top_k=3
/help             this list
/quit             end; so does Ctrl-D"""
HISTORY = 1000


class Chat:
    """A conversation with one knowledge base. What goes wrong is shown, and the prompt goes on."""

    def __init__(
        self,
        open_engine: Callable[[Sequence[str]], Engine],
        overrides: Sequence[str],
        where: str | None,
        session: str = "",
        reader: Reader = OWNER,
    ) -> None:
        """Open the knowledge base.

        Args:
            open_engine: opens it with settings.
            overrides: the settings to begin with.
            where: which documents may be used.
            session: name of a conversation that is kept; without one it is forgotten at the end.
            reader: who asks.
        """
        self._open, self._overrides, self._where = open_engine, list(overrides), where
        self._session, self._reader = session, reader
        self._engine = open_engine(self._overrides)
        self._last: Answer | None = None
        self._said: list[Turn] = []
        self._runner = asyncio.Runner()  # one for all questions: connections to a model stay open

    def run(self) -> None:
        """Until the input ends, or ``/quit`` or ``quit`` is typed."""
        try:
            for typed in _typed():
                try:
                    if not self._obey(typed):
                        return
                except BrokenPipeError:
                    raise
                except (RagstoneError, OSError) as error:
                    write_error(str(error))
                sys.stdout.flush()
        finally:
            self._runner.close()
            self._engine.close()

    def _obey(self, typed: str) -> bool:
        """Do what one line says; false when it ends the conversation."""
        command, _, rest = typed.partition(" ")
        match command:
            case "/quit" | "/exit":
                return False
            case "quit" | "exit" if not rest.strip():  # no question, and what one types to leave other prompts
                return False
            case "/help":
                write([line(HELP)])
            case "/set":
                self._set(rest.strip())
            case "/sources":
                write(render.sources(self._answered(), metadata=self._engine.settings.respond.metadata))
            case "/explain":
                write(render.explanation(self._answered()))
            case _ if command.startswith("/"):
                raise UsageError(f"there is no command {command}; /help lists them")
            case _:
                self._ask(typed)
        return True

    def _ask(self, question: str) -> None:
        events = self._engine.stream(
            question, self._where, before=self._said, session=self._session, reader=self._reader
        )
        self._last = answer = self._runner.run(watched(events))
        if not self._session:
            self._said.append(Turn(question=question, answer=answer.answer))
        metadata = self._engine.settings.respond.metadata
        write(render.answer(answer, metadata=metadata, rated=self._engine.learns))
        write(render.notices(answer), sys.stderr)
        write([line()])

    def _set(self, pair: str) -> None:
        self._reopen([*self._overrides, pair])
        self._overrides.append(pair)
        write([line((f"set {one_line(pair)}", "dim"))])

    def _reopen(self, overrides: Sequence[str]) -> None:
        # A knowledge base that refuses its settings leaves the conversation as it was.
        engine = self._open(overrides)
        self._engine.close()
        self._engine = engine

    def _answered(self) -> Answer:
        if self._last is None:
            raise UsageError("no question has been answered yet")
        return self._last


def _typed() -> Iterator[str]:
    """Lines that are not blank. From a file they are shown too, so that the output reads as a conversation."""
    if sys.stdin.isatty():
        yield from _prompted()
        return
    for typed in sys.stdin:
        if question := printable(typed).strip():
            write([line((f"> {question}", "bold"))])
            yield question


def _prompted() -> Iterator[str]:
    write([line(("Ask a question. /help lists the commands; Ctrl-D ends.", "dim"))])
    with suppress(ImportError):  # some builds of Python have none; then there are no arrow keys
        _remember_lines()
    while True:
        try:
            typed = printable(input("> ")).strip()
        except EOFError:
            print()
            return
        except KeyboardInterrupt:  # as in a shell, it drops the line and not the conversation
            print()
            continue
        if typed:
            yield typed


def _remember_lines() -> None:
    """Arrow keys, and the questions of earlier conversations; in a file that only the user can read."""
    import atexit
    import readline

    state = Path(os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state")
    path = state / "ragstone" / "history"
    with suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch(mode=0o600)
        readline.read_history_file(path)
    readline.set_history_length(HISTORY)

    def save() -> None:
        with suppress(OSError):
            readline.write_history_file(path)

    atexit.register(save)
