"""The prompt of ``ragstone chat``: question after question, typed or from a file.

Commands of the prompt begin with a slash; everything else is a question.
"""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from ragstone.core.access import Reader
from ragstone.core.answers import Answer, Turn
from ragstone.core.errors import RagstoneError, UsageError
from ragstone.core.printable import one_line, printable
from ragstone.serve.cli.screen import watch, write, write_error
from ragstone.serve.views import answers
from ragstone.serve.views.blocks import line

if TYPE_CHECKING:
    from ragstone.engine.knowledge_base import KnowledgeBase

HELP = """\
/sources          the sources of the last answer
/explain          the evidence of the last answer, and the history of each score
/set path=value   change a setting for the following questions, such as: /set rank.top_k=3
/help             this list
/quit             stop; so does Ctrl-D"""
HISTORY = 1000
"""Questions kept for the arrow keys."""


class Chat:
    """A conversation with one knowledge base. Errors are printed and do not end it."""

    def __init__(
        self,
        open_kb: Callable[[Sequence[str]], KnowledgeBase],
        overrides: Sequence[str],
        where: str | None,
        session: str,
        reader: Reader,
    ) -> None:
        """Open the knowledge base.

        Args:
            open_kb: opens it with settings.
            overrides: the settings to begin with.
            where: filter on documents.
            session: name of a stored conversation; an empty name stores nothing.
            reader: the reader who asks.
        """
        self._open, self._overrides, self._where = open_kb, list(overrides), where
        self._session, self._reader = session, reader
        self._kb = open_kb(self._overrides)
        self._last: Answer | None = None
        self._turns: list[Turn] = []
        self._runner = asyncio.Runner()  # one for all questions: connections to a model stay open

    def run(self) -> None:
        """Answer until the input ends or ``/quit`` or ``quit`` is typed."""
        try:
            for typed in _typed():
                try:
                    if not self._do(typed):
                        return
                except BrokenPipeError:
                    raise
                except (RagstoneError, OSError) as error:
                    write_error(str(error))
                sys.stdout.flush()
        finally:
            self._runner.close()
            self._kb.close()

    def _do(self, typed: str) -> bool:
        """Do what one line asks; return False to end the conversation."""
        command, _, rest = typed.partition(" ")
        match command:
            case "/quit" | "/exit":
                return False
            case "quit" | "exit" if not rest.strip():  # not a question, and usual at other prompts
                return False
            case "/help":
                write([line(HELP)])
            case "/set":
                self._set(rest.strip())
            case "/sources":
                write(answers.sources(self._answered(), shown=self._kb.settings.respond.shown))
            case "/explain":
                write(answers.explanation(self._answered()))
            case _ if command.startswith("/"):
                raise UsageError(f"there is no command {command}; /help lists them")
            case _:
                self._ask(typed)
        return True

    def _ask(self, question: str) -> None:
        events = self._kb.stream(question, self._where, before=self._turns, session=self._session, reader=self._reader)
        self._last = answer = self._runner.run(watch(events))
        if not self._session:
            self._turns.append(Turn(question=question, answer=answer.answer))
        shown = self._kb.settings.respond.shown
        write(answers.answer(answer, shown=shown, rated=self._kb.learning.is_on))
        write(answers.notices(answer), sys.stderr)
        write([line()])

    def _set(self, pair: str) -> None:
        # Open first: if the knowledge base refuses the settings, the conversation continues unchanged.
        kb = self._open([*self._overrides, pair])
        self._kb.close()
        self._kb = kb
        self._overrides.append(pair)
        write([line((f"set {one_line(pair)}", "dim"))])

    def _answered(self) -> Answer:
        if self._last is None:
            raise UsageError("there is no answer yet; ask a question first")
        return self._last


def _typed() -> Iterator[str]:
    """Yield the lines that are not blank. Piped lines are printed, too, so that the output reads as a conversation."""
    if sys.stdin.isatty():
        yield from _prompted()
        return
    for typed in sys.stdin:
        if question := printable(typed).strip():
            write([line((f"> {question}", "bold"))])
            yield question


def _prompted() -> Iterator[str]:
    write([line(("Ask a question. /help lists the commands; Ctrl-D stops.", "dim"))])
    with suppress(ImportError):  # some builds of Python have no readline, and then no arrow keys
        _use_readline()
    while True:
        try:
            typed = printable(input("> ")).strip()
        except EOFError:
            print()
            return
        except KeyboardInterrupt:  # drops the line, as in a shell
            print()
            continue
        if typed:
            yield typed


def _use_readline() -> None:
    """Enable the arrow keys, and keep the questions in a file that only the user can read."""
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
