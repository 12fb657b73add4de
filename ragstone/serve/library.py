"""A knowledge base in a folder, as one reader sees it: the class for asynchronous programs.

`Ragstone`, the class for scripts and notebooks, is made from this one; see `blocking`. The engine is imported when the
knowledge base is first used, so that a program which names this class starts at once.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Callable, Iterator, Mapping, Sequence
from contextlib import aclosing
from hashlib import sha256
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

from ragstone.core.access import OWNER, Reader
from ragstone.core.errors import SourceError, UsageError
from ragstone.core.listeners import Listeners
from ragstone.core.records import Document, TextKind

if TYPE_CHECKING:
    from ragstone.core.answers import Answer, Event, Listener, Turn
    from ragstone.core.catalog import Listing
    from ragstone.core.filters import Filter
    from ragstone.core.hits import Hits
    from ragstone.core.reports import AddReport
    from ragstone.engine.erasure import Erasure
    from ragstone.engine.knowledge_base import KnowledgeBase
    from ragstone.engine.progress import OnProgress
    from ragstone.engine.status import Status
    from ragstone.history.responses import Feedback, Vote
    from ragstone.review.report import EvalReport

Given = str | Path | Document | Sequence[str | Path | Document]
"""What can be added: a path, a document, a text, or several."""


class AsyncRagstone:
    """A knowledge base in a folder, as one reader sees it.

    >>> import asyncio
    >>> async def main():
    ...     async with AsyncRagstone("kb") as kb:
    ...         await kb.add("docs/")
    ...         print(await kb.ask("When was the pump in hall three built?"))
    >>> asyncio.run(main())
    The pump in hall three runs at 4 bar. It was built in 1987. [1]
    """

    _open: KnowledgeBase | None = None

    def __init__(
        self,
        folder: str | Path = ".ragstone",
        *,
        preset: str | None = None,
        settings: Sequence[str] | Mapping[str, object] = (),
        reader: Reader = OWNER,
    ) -> None:
        """Name a knowledge base; adding documents creates it.

        Args:
            folder: its folder.
            preset: name or path of a preset.
            settings: by path, such as ``{"rank.top_k": 3}``, or as ``path=value``, such as ``["rank.top_k=3"]``.
            reader: the reader who asks; the owner by default.
        """
        self.folder, self.preset, self.reader = Path(folder), preset, reader
        self.settings = _as_overrides(settings)
        self._listeners = Listeners()

    def __repr__(self) -> str:
        who = "" if self.reader.is_owner else f", reader={self.reader!r}"
        return f"AsyncRagstone({str(self.folder)!r}{who})"

    async def ask(
        self,
        question: str,
        where: Filter | str | None = None,
        *,
        before: Sequence[Turn] = (),
        session: str = "",
        picture: bytes = b"",
    ) -> Answer:
        """Answer a question from the documents, or abstain; see `KnowledgeBase.ask`."""
        kb = await self._opened()
        return await kb.ask(question, where, reader=self.reader, before=before, session=session, picture=picture)

    async def stream(
        self,
        question: str,
        where: Filter | str | None = None,
        *,
        before: Sequence[Turn] = (),
        session: str = "",
        picture: bytes = b"",
    ) -> AsyncGenerator[Event]:
        """Yield the evidence, the answer as it is written and checked, and last the whole answer.

        Closing the generator early stops the work, that of a language model too.
        """
        kb = await self._opened()
        events = kb.stream(question, where, reader=self.reader, before=before, session=session, picture=picture)
        async with aclosing(events):
            async for event in events:
                yield event

    async def search(self, question: str, k: int | None = None, where: Filter | str | None = None) -> Hits:
        """Return the best chunks, best first; see `KnowledgeBase.search`."""
        return await (await self._opened()).search(question, k, where, reader=self.reader)

    async def add(
        self,
        *sources: Given,
        kind: TextKind = "",
        on_progress: OnProgress | None = None,
    ) -> AddReport:
        """Add files, folders, documents or texts; see `Documents.add`.

        Args:
            sources: paths, documents made by the program, or lists of these.
            kind: what each of the sources is if it is a text and not a path: ``"markdown"``, ``"html"``, ``"rst"`` or
                ``"text"``. A text has a hash of its words as id; to replace it later, add a `Document` with an id.
            on_progress: receives a `Progress` after each commit and at least once a second, on another thread than
                that of the caller of `Ragstone`. What it raises stops the work; what was committed stays.

        Raises:
            UsageError: there is nothing to add, or there is no such kind.
            SourceError: a path does not exist, or has nothing to read.
        """
        _refuse_nothing(sources)
        given = [one for source in sources for one in _given(source, kind)]
        try:
            await asyncio.to_thread(self._refuse_unreadable, given)
        except SourceError as error:
            if any(isinstance(one, str) and len(one.split()) > 1 and one in str(error) for one in given):
                raise SourceError(f"{error}; to add a text, say what it is, such as kind='markdown'") from error
            raise
        return await (await self._opened(create=True)).documents.add(given, on_progress)

    async def sync(self, *sources: str | Path, on_progress: OnProgress | None = None) -> AddReport:
        """Make the knowledge base match the sources: add, update and remove; see `Documents.sync`."""
        _refuse_nothing(sources)
        given = [str(source) for source in sources]
        await asyncio.to_thread(self._refuse_unreadable, given)
        return await (await self._opened(create=True)).documents.sync(given, on_progress)

    async def crawl(self, site: str, *, force: bool = False, on_progress: OnProgress | None = None) -> AddReport:
        """Follow a web site from an address, or one named in ``acquire.sites``; see `Documents.crawl`."""
        kb = await self._opened(create=True)
        return await kb.documents.crawl(site, on_progress, force=force)

    async def remove(self, *ids: str) -> list[str]:
        """Remove documents, all or none, and return their full ids; see `Documents.remove`."""
        documents = (await self._opened()).documents
        return await asyncio.to_thread(documents.remove, ids, reader=self.reader)

    async def forget(self, *ids: str, words: str = "") -> Erasure:
        """Erase documents with every trace that they left, and return the proof; see `Documents.forget`."""
        documents = (await self._opened()).documents
        return await asyncio.to_thread(documents.forget, ids, reader=self.reader, words=words)

    async def document(self, id: str) -> Document:
        """Return a stored document; see `Documents.get`."""
        documents = (await self._opened()).documents
        return await asyncio.to_thread(documents.get, id, reader=self.reader)

    async def documents(self, *, q: str = "", after: str = "", limit: int = 100) -> Listing:
        """Return a page of the stored documents; see `Documents.list`."""
        documents = (await self._opened()).documents
        return await asyncio.to_thread(documents.list, reader=self.reader, q=q, after=after, limit=limit)

    async def rate(self, answer: Answer | str, vote: Vote, *, reason: str = "", correction: str = "") -> Feedback:
        """Rate an answer, or the one with this id; see `History.rate`."""
        id = answer if isinstance(answer, str) else answer.response_id
        rate = (await self._opened()).history.rate
        return await asyncio.to_thread(rate, id, reader=self.reader, vote=vote, reason=reason, correction=correction)

    async def status(self) -> Status:
        """Return what the knowledge base holds, as far as the reader may read it."""
        status = (await self._opened()).status
        return await asyncio.to_thread(status, reader=self.reader)

    async def evaluate(self, questions: str | Path, *, limit: int | None = None, answers: bool = True) -> EvalReport:
        """Measure on a CSV with the columns question and source; see `ragstone.review.questions`."""
        from ragstone.engine.experiments import evaluate_questions

        kb = await self._opened()
        return await evaluate_questions(kb, Path(questions), limit=limit, answers=answers, reader=self.reader)

    async def rebuild(
        self, *settings: str, preset: str | None = None, on_progress: OnProgress | None = None
    ) -> AddReport:
        """Chunk and embed everything again with other settings; see `Versions.rebuild`."""
        return await (await self._opened()).versions.rebuild(settings, preset=preset, on_progress=on_progress)

    def subscribe(self, listener: Listener) -> Callable[[], None]:
        """Call a function at the end of every question; see `KnowledgeBase.subscribe`."""
        return self._listeners.add(listener)

    async def close(self) -> None:
        """Close the files; the next call opens them again."""
        with _opening:
            kb, self._open = self._open, None
        if kb is not None:
            kb.close()

    def knowledge_base(self, *, create: bool = False) -> KnowledgeBase:
        """Return the knowledge base, opened on first use."""
        from ragstone.engine.knowledge_base import KnowledgeBase

        with _opening:
            if self._open is None:
                self._open = KnowledgeBase.open(self.folder, self.settings, preset=self.preset, create=create)
                self._open.listeners = self._listeners
            return self._open

    async def _opened(self, *, create: bool = False) -> KnowledgeBase:
        return self._open or await asyncio.to_thread(self.knowledge_base, create=create)

    def _refuse_unreadable(self, sources: Sequence[str | Document]) -> None:
        from ragstone.engine.opening import settings_at
        from ragstone.engine.sources import refuse_unreadable

        kb = self._open
        at = settings_at(self.folder, self.settings, self.preset) if kb is None else kb.settings
        refuse_unreadable(sources, at.acquire)

    async def __aenter__(self) -> AsyncRagstone:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()


_opening = Lock()
"""Held while a knowledge base is opened or closed, so that two threads do not open the same one twice."""


def _refuse_nothing(sources: Sequence[object]) -> None:
    if not sources:
        raise UsageError("nothing was given; name a file or a folder")


def _given(source: Given, kind: TextKind) -> Iterator[str | Document]:
    """Yield what a source stands for: documents, the paths of files or folders, or texts of this kind."""
    if isinstance(source, Document):
        yield source
    elif isinstance(source, str) and kind:
        yield Document(id=f"text-{sha256(source.encode()).hexdigest()[:16]}", text=source, kind=kind)
    elif isinstance(source, str | Path):
        yield str(source)
    elif isinstance(source, Sequence):  # pyright: ignore[reportUnnecessaryIsInstance]  # programs may be untyped
        for item in source:
            yield from _given(item, kind)
    else:
        kinds = "paths, Documents, lists of these, or texts with a kind such as kind='markdown'"
        raise UsageError(f"cannot add a value of type {type(source).__name__}; give {kinds}")


def _as_overrides(settings: Sequence[str] | Mapping[str, object]) -> tuple[str, ...]:
    """Return settings as ``path=value``. A value that is no string is written as JSON, which YAML includes."""
    if not isinstance(settings, Mapping):
        return tuple(settings)
    return tuple(f"{path}={v if isinstance(v, str) else json.dumps(v)}" for path, v in settings.items())
