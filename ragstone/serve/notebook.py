"""Ragstone for notebooks and scripts: a knowledge base without ``await``.

Every method runs that of `KnowledgeBase` to its end. The engine is imported when the knowledge base is first used, so
that a program which names this class starts at once.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from ragstone.core.access import OWNER, Reader
from ragstone.core.records import Document

if TYPE_CHECKING:
    from ragstone.core.answers import Answer, Turn
    from ragstone.core.catalog import Listing
    from ragstone.core.filters import Filter
    from ragstone.core.records import Hit
    from ragstone.core.reports import AddReport
    from ragstone.engine.knowledge_base import KnowledgeBase
    from ragstone.engine.status import Status
    from ragstone.history.responses import Feedback, Vote
    from ragstone.review.report import EvalReport

R = TypeVar("R")


class Ragstone:
    """A knowledge base in a folder, as one reader sees it.

    >>> kb = Ragstone("kb")
    >>> kb.add("docs/")
    >>> print(kb.ask("How do I start?"))
    """

    def __init__(
        self,
        folder: str | Path = ".ragstone",
        *,
        preset: str | None = None,
        settings: Sequence[str] = (),
        reader: Reader = OWNER,
    ) -> None:
        """Name a knowledge base; adding documents creates it.

        Args:
            folder: its folder.
            preset: name or path of a preset.
            settings: as ``path=value``, such as ``"rank.top_k=3"``.
            reader: the reader who asks; the owner by default.
        """
        self._folder, self._preset, self._settings, self.reader = folder, preset, settings, reader
        self._open: KnowledgeBase | None = None
        # Its own thread, because a notebook's thread already runs an event loop.
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="ragstone")

    def ask(
        self,
        question: str,
        where: Filter | str | None = None,
        *,
        before: Sequence[Turn] = (),
        session: str = "",
    ) -> Answer:
        """Answer a question from the documents, or abstain; see `KnowledgeBase.ask`."""
        kb = self.knowledge_base()
        return self.wait(kb.ask(question, where, reader=self.reader, before=before, session=session))

    def search(self, question: str, k: int | None = None, where: Filter | str | None = None) -> list[Hit]:
        """Return the best chunks, best first; see `KnowledgeBase.search`."""
        return self.wait(self.knowledge_base().search(question, k, where, reader=self.reader))

    def add(self, *sources: str | Path | Document) -> AddReport:
        """Add files, folders or documents; see `Documents.add`."""
        from ragstone.engine.documents import refuse_unreadable

        given = [source if isinstance(source, Document) else str(source) for source in sources]
        refuse_unreadable(given)
        return self.wait(self.knowledge_base(create=True).documents.add(given))

    def sync(self, *sources: str | Path) -> AddReport:
        """Make the knowledge base match the sources; see `Documents.sync`."""
        return self.wait(self.knowledge_base(create=True).documents.sync([str(source) for source in sources]))

    def remove(self, *ids: str) -> list[str]:
        """Remove documents, all or none; see `Documents.remove`."""
        return self.knowledge_base().documents.remove(ids, reader=self.reader)

    def document(self, id: str) -> Document:
        """Return a stored document; see `Documents.get`."""
        return self.knowledge_base().documents.get(id, reader=self.reader)

    def documents(self, *, q: str = "", after: str = "", limit: int = 100) -> Listing:
        """Return a page of the stored documents; see `Documents.list`."""
        return self.knowledge_base().documents.list(reader=self.reader, q=q, after=after, limit=limit)

    def rate(self, answer: Answer | str, vote: Vote, *, reason: str = "", correction: str = "") -> Feedback:
        """Rate an answer; see `History.rate`."""
        response_id = answer if isinstance(answer, str) else answer.response_id
        history = self.knowledge_base().history
        return history.rate(response_id, reader=self.reader, vote=vote, reason=reason, correction=correction)

    def status(self) -> Status:
        """Return what the knowledge base holds."""
        return self.knowledge_base().status()

    def evaluate(self, questions: str | Path, *, limit: int | None = None, answers: bool = True) -> EvalReport:
        """Measure on a CSV with the columns question and source; see `ragstone.review.questions`."""
        from ragstone.engine.experiments import evaluate_questions

        kb = self.knowledge_base()
        return self.wait(evaluate_questions(kb, Path(questions), limit=limit, answers=answers, reader=self.reader))

    def rebuild(self, *settings: str, preset: str | None = None) -> AddReport:
        """Chunk and embed everything again with other settings; see `Versions.rebuild`."""
        return self.wait(self.knowledge_base().versions.rebuild(settings, preset=preset))

    def knowledge_base(self, *, create: bool = False) -> KnowledgeBase:
        """Return the knowledge base, opened on first use; its methods are asynchronous."""
        if self._open is None:
            from ragstone.engine.knowledge_base import KnowledgeBase

            self._open = KnowledgeBase.open(self._folder, self._settings, preset=self._preset, create=create)
        return self._open

    def close(self) -> None:
        """Close the files; the next call opens them again."""
        if self._open is not None:
            self._open.close()
            self._open = None

    def wait(self, coroutine: Coroutine[Any, Any, R]) -> R:
        """Run a coroutine of the knowledge base to its end and return its result."""
        return self._thread.submit(asyncio.run, coroutine).result()
