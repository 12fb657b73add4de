"""Ragstone for notebooks and scripts: the engine without ``await``.

Every asynchronous method is the engine's own, run to its end; nothing is written twice.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import wraps
from pathlib import Path
from typing import Any, Concatenate, ParamSpec, TypeVar

from ragstone.access import OWNER, Reader
from ragstone.answers import Answer
from ragstone.contracts import Document
from ragstone.engine import Engine
from ragstone.experiment import evaluate_questions
from ragstone.index import Listing
from ragstone.keeping.built import Status
from ragstone.reports import AddReport
from ragstone.review.report import EvalReport
from ragstone.usage.responses import Feedback, Vote

P = ParamSpec("P")
R = TypeVar("R")


def _waited(method: Callable[Concatenate[Engine, P], Coroutine[Any, Any, R]]) -> Callable[Concatenate[Ragstone, P], R]:
    """The engine's method as a plain one, with its signature and docstring."""

    @wraps(method)
    def _call(self: Ragstone, *args: P.args, **kwargs: P.kwargs) -> R:
        return self._wait(method(self.engine(), *args, **kwargs))

    return _call


class Ragstone:
    """A knowledge base in a folder.

    >>> kb = Ragstone("kb")
    >>> kb.add("docs/")
    >>> print(kb.ask("How do I start?"))
    """

    def __init__(
        self, folder: str | Path = ".ragstone", *, preset: str | None = None, settings: Sequence[str] = ()
    ) -> None:
        """Name a knowledge base; it is made when something is added.

        Args:
            folder: where it lies.
            preset: name or path of a preset.
            settings: as ``path=value``, such as ``"rank.top_k=3"``.
        """
        self._folder, self._preset, self._settings = folder, preset, settings
        self._engine: Engine | None = None
        # A thread of its own, because a notebook's thread already runs an event loop.
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="ragstone")

    ask = _waited(Engine.ask)
    search = _waited(Engine.search)

    def add(self, *sources: str | Path | Document) -> AddReport:
        """Read files, folders or documents and store what is new or changed; see `Engine.add`."""
        given = [source if isinstance(source, Document) else str(source) for source in sources]
        Engine.refuse_unreadable(given)
        return self._wait(self.engine(create=True).add(given))

    def remove(self, *ids: str) -> list[str]:
        """Take documents out, all or none; see `Engine.remove`."""
        return self.engine().remove(ids)

    def document(self, id: str, *, reader: Reader = OWNER) -> Document:
        """A stored document; see `Engine.document`."""
        return self.engine().document(id, reader=reader)

    def listing(self, *, reader: Reader = OWNER, q: str = "", after: str = "", limit: int = 100) -> Listing:
        """A page of the stored documents; see `Engine.listing`."""
        return self.engine().listing(reader=reader, q=q, after=after, limit=limit)

    def feedback(
        self, answer: Answer | str, vote: Vote, *, reason: str = "", correction: str = "", reader: Reader = OWNER
    ) -> Feedback:
        """Say whether an answer was good; see `Engine.feedback`."""
        named = answer if isinstance(answer, str) else answer.response_id
        return self.engine().feedback(named, vote=vote, reason=reason, correction=correction, reader=reader)

    def status(self) -> Status:
        """What the knowledge base holds."""
        return self.engine().status()

    def evaluate(
        self, questions: str | Path, *, limit: int | None = None, answers: bool = True, reader: Reader = OWNER
    ) -> EvalReport:
        """Measure on a CSV with the columns question and source; see `ragstone.review.questions`."""
        measured = evaluate_questions(self.engine(), Path(questions), limit=limit, answers=answers, reader=reader)
        return self._wait(measured)

    def rebuild(self, *settings: str, preset: str | None = None) -> AddReport:
        """Cut and embed everything anew with other settings; see `Engine.rebuild`."""
        return self._wait(self.engine().rebuild(settings, preset=preset))

    def engine(self, *, create: bool = False) -> Engine:
        """The engine behind it, opened when first needed."""
        if self._engine is None:
            self._engine = Engine.open(self._folder, self._settings, preset=self._preset, create=create)
        return self._engine

    def close(self) -> None:
        """Let go of the files; the next call opens them again."""
        if self._engine is not None:
            self._engine.close()
            self._engine = None

    def _wait(self, coroutine: Coroutine[Any, Any, R]) -> R:
        return self._thread.submit(asyncio.run, coroutine).result()
