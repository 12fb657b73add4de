"""One knowledge base: the composition root, and the object that programs work with.

add:  acquire -> chunk -> index          `Documents`, `Ingest`
ask:  index -> query -> rank -> respond  `Search`, `Ask`
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Generator, Sequence
from contextlib import aclosing, contextmanager
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from ragstone import index
from ragstone.catalog.lock import Patience
from ragstone.core.access import OWNER, Reader
from ragstone.core.answers import Answer, Answered, Event, Listener, Turn, answer_in
from ragstone.core.errors import NotFound, UsageError
from ragstone.core.filters import Filter
from ragstone.core.frozen import frozen
from ragstone.core.hits import Hits
from ragstone.core.listeners import Listeners
from ragstone.core.protocols import Role
from ragstone.core.records import Trace
from ragstone.core.request import Payer, Request
from ragstone.core.timing import Timings
from ragstone.engine import background
from ragstone.engine.ask import Ask
from ragstone.engine.assembly import quoting, under
from ragstone.engine.components import Components
from ragstone.engine.learning import Learning, assigned, in_use
from ragstone.engine.opening import Opening, OpenVersions, open_versions
from ragstone.engine.outcomes import ending
from ragstone.engine.parts.source import BuildEmbedder
from ragstone.engine.pictured import with_picture
from ragstone.engine.search import Search, refuse_no_text
from ragstone.engine.status import Status, status_of
from ragstone.engine.suggestions import Suggestion, suggested
from ragstone.question import Context, read
from ragstone.question.tasks import task_of
from ragstone.settings import Settings

if TYPE_CHECKING:
    from ragstone.core.records import Vector
    from ragstone.core.research import Budget, Effort, ResearchEvent
    from ragstone.engine.documents import Documents
    from ragstone.engine.history import History
    from ragstone.engine.originals import Originals
    from ragstone.engine.versions import Versions

Change = Callable[[Settings], Settings]
"""Returns the settings of a question, derived from those in force."""


@frozen
class Embedded:
    """Vectors of texts, shape (texts, dimensions), the tokens of all texts, and the name of the embedder."""

    vectors: Vector
    tokens: int
    embedder: str


class KnowledgeBase:
    """A knowledge base that is open. Opening is cheap: models and indexes are loaded when first used.

    After a rebuild in any process, the next call uses the new version. A call stays within one version from beginning
    to end.

    >>> import asyncio
    >>> from ragstone import Document, KnowledgeBase, Reader
    >>> kb = KnowledgeBase.open("kb", create=True)
    >>> report = asyncio.run(kb.documents.add([Document(id="rule", text="Visitors park behind the mill.")]))
    >>> print(asyncio.run(kb.ask("Where do visitors park?", reader=Reader())))
    Visitors park behind the mill. [1]
    >>> kb.close()
    """

    def __init__(self, versions: OpenVersions, change: Change | None = None, *, learns: bool = True) -> None:
        self._versions, self._change, self._learns = versions, change, learns
        self.learning = Learning(versions)
        self.listeners = Listeners()

    @classmethod
    def open(
        cls,
        folder: str | Path,
        overrides: Sequence[str] = (),
        *,
        preset: str | None = None,
        create: bool = False,
        as_built: bool = False,
        patience: Patience | None = None,
        build_embedder: BuildEmbedder = index.build_embedder,
    ) -> KnowledgeBase:
        """Open a knowledge base.

        Args:
            folder: its folder.
            overrides: settings as ``path=value``.
            preset: name or path of a preset; the one of its creation if not given.
            create: create an empty one if there is none.
            as_built: the build settings replace settings that do not match the stored data.
            patience: how long to wait for another writing process; not at all if not given.
            build_embedder: returns the embedder that the settings name; a loaded one can serve several knowledge bases.

        Raises:
            NotFound: there is none, and ``create`` is false.
            SettingsError: a setting is wrong.
            SettingsMismatch: a requested setting differs from the build.
            MissingExtra: the package of a named engine is not installed.
        """
        opening = Opening(
            overrides=overrides, preset=preset, patience=patience or Patience(), build_embedder=build_embedder
        )
        return cls(open_versions(Path(folder), opening, create=create, as_built=as_built))

    def close(self) -> None:
        """Close the files."""
        if "originals" in vars(self):  # they were used
            self.originals.close()
        self._versions.close()

    def subscribe(self, listener: Listener) -> Callable[[], None]:
        """Call a function at the end of every question that is asked through this object, until it is removed.

        It gets an `Answered` with the answer, also of a refusal, and the stages, or a `Failed` with the error. It is
        called in the thread of the question, before the answer is returned, so long work belongs elsewhere. What it
        raises is logged.

        Returns:
            a function that removes the listener.
        """
        return self.listeners.add(listener)

    # A program that answers one question needs few of the members, so each is imported when it is first used.

    @cached_property
    def documents(self) -> Documents:
        """Adds, lists and removes documents."""
        from ragstone.engine.documents import Documents

        return Documents(self._versions)

    @cached_property
    def originals(self) -> Originals:
        """The files that documents came from."""
        from ragstone.engine.originals import Originals

        return Originals(self._versions)

    @cached_property
    def versions(self) -> Versions:
        """Rebuilds, and returns to an earlier version."""
        from ragstone.engine.versions import Versions

        return Versions(self._versions)

    @cached_property
    def history(self) -> History:
        """What people asked, and how they voted."""
        from ragstone.engine.history import History

        return History(self._versions)

    @property
    def folder(self) -> Path:
        """The folder of the knowledge base."""
        return self._versions.location.folder

    @property
    def is_read_only(self) -> bool:
        """Whether this account cannot write to the folder: questions are answered, and nothing is stored."""
        return self._versions.is_read_only

    @property
    def settings(self) -> Settings:
        """The settings in force."""
        with self.current() as version:
            return version.settings

    @contextmanager
    def current(self) -> Generator[Components]:
        """Yield the version in use; it stays open and unchanged until the block ends, whatever other processes do."""
        with self._versions.current() as version:
            yield self._changed(version)

    def under(self, change: Change, *, learns: bool = False) -> KnowledgeBase:
        """Return this knowledge base under other settings of the question; loaded parts are shared.

        The caller closes only this one. Questions to the returned one teach nothing and follow no policy, unless it
        ``learns``.
        """
        view = KnowledgeBase(self._versions, change, learns=learns)
        view.listeners = self.listeners
        return view

    def uncached(self, *, next_version: bool = False) -> KnowledgeBase:
        """Open the version in use, or the next one, a second time, without a cache and without following rebuilds.

        Raises:
            NotFound: there is no next version.
        """
        with self._versions.current() as version:
            path = version.location.next() if next_version else version.source.path
            if path is None:
                raise NotFound(f"{self.folder} has no version besides the one in use")
            return KnowledgeBase(self._versions.unfollowing(path))

    async def ask(
        self,
        question: str,
        where: Filter | str | None = None,
        *,
        reader: Reader,
        before: Sequence[Turn] = (),
        session: str = "",
        payer: Payer | None = None,
        picture: bytes = b"",
    ) -> Answer:
        """Answer a question from the documents, or abstain: the last event of `stream`.

        Args:
            question: in any language; an empty one is a `UsageError`.
            where: filter on the metadata of documents; as text, in the language of `query.where`.
            reader: the reader; the answer uses only documents that they may read.
            before: earlier turns of the same conversation, for a question that refers to them.
            session: name of a stored conversation; its turns come before ``before``.
            payer: charged with the cost of the question, whatever its outcome.
            picture: the file of a picture, such as a PNG image, that the question is about; the model of
                ``acquire.captions.model`` describes it.

        Raises:
            UsageError: the question is blank, or the filter is malformed, or the picture is too large.
            SettingsError: there is a picture, and no model that describes it.
            SourceError: the picture cannot be read.
            RetrievalError: no leg of the search could be run.
            ResponseError: a citation does not match the documents, or the picture could not be described.
        """
        events = self.stream(
            question, where, reader=reader, before=before, session=session, payer=payer, picture=picture
        )
        return await answer_in(events)

    async def stream(
        self,
        question: str,
        where: Filter | str | None = None,
        *,
        reader: Reader,
        before: Sequence[Turn] = (),
        session: str = "",
        payer: Payer | None = None,
        response_id: str = "",
        keep: bool = True,
        picture: bytes = b"",
        language: str = "",
    ) -> AsyncGenerator[Event]:
        """Yield the evidence, the answer while it is written and checked, and finally the whole answer; see `ask`.

        Closing the generator stops all work, including a language model. ``response_id`` is an unused id; a random one
        if not given. Without ``keep``, neither the turn nor the answer is stored. ``language`` is the ISO 639-1 code of
        what shows the answer, for a question whose words are of no known language.
        """
        refuse_no_text(question)
        with self.current() as version:
            within = reader.within(session)
            request = version.request(within, payer, response_id=response_id, keep=keep, language=language)
            if task := task_of(question, before):
                async with aclosing(background.events_of(version, task, request)) as events:
                    async for event in events:
                        yield event
                return
            with ending(version, self.listeners, question) as end:
                asked = await with_picture(version, question, picture, request)
                if self._learns:
                    end.version = await assigned(version, asked, request)
                events = Ask(end.version).stream(asked, where, request, before=before, session=session)
                async with aclosing(events):
                    async for event in events:
                        if isinstance(event, Answered):
                            end.tell(event)
                        yield event

    async def research(
        self,
        question: str,
        where: Filter | str | None = None,
        *,
        reader: Reader,
        effort: Effort = "research",
        budget: Budget | None = None,
        before: Sequence[Turn] = (),
        session: str = "",
        payer: Payer | None = None,
        is_stopped: Callable[[], bool] | None = None,
        report: bool = False,
        keep: bool = True,
        picture: bytes = b"",
        language: str = "",
    ) -> AsyncGenerator[ResearchEvent]:
        """Yield what a question is expected to cost, each action, the notebooks, and the events of `stream`.

        Closing the generator stops all work.

        Args:
            question: in any language.
            where: filter on the metadata of documents.
            reader: the reader; only documents that they may read are used.
            effort: how much work the question is worth.
            budget: its limits; those of the effort in `LEVELS` if not given.
            before: earlier turns of the same conversation.
            session: name of a stored conversation.
            payer: charged with the cost of the question.
            is_stopped: once it returns true, no further action begins, and the answer is written from what was found.
            report: whether sections follow the answer, one for each document.
            keep: whether the turn and the answer are stored.
            picture: the file of a picture that the question is about, as for `ask`.
            language: of the interface, as for `stream`.

        Raises:
            UsageError, SettingsError, SourceError, RetrievalError, ResponseError: as of `ask`.
        """
        from ragstone.core.research import LEVELS
        from ragstone.engine.research.research import Research

        refuse_no_text(question)
        with self.current() as version:
            request = version.request(reader.within(session), payer, keep=keep, language=language)
            with ending(version, self.listeners, question) as end:
                asked = await with_picture(version, question, picture, request)
                events = Research(self._governed(version, asked, request)).stream(
                    asked,
                    where,
                    request,
                    effort=effort,
                    budget=budget or LEVELS[effort],
                    before=before,
                    session=session,
                    is_stopped=is_stopped,
                    report=report,
                )
                async with aclosing(events):
                    async for event in events:
                        if isinstance(event, Answered):
                            end.tell(event)
                        yield event

    async def search(
        self,
        question: str,
        k: int | None = None,
        where: Filter | str | None = None,
        *,
        reader: Reader,
        payer: Payer | None = None,
    ) -> Hits:
        """Return the ``k`` best chunks (``rank.top_k`` if not given), best first, each with the history of its score.

        Raises:
            UsageError: the question is blank, ``k`` is below 1 or above ``rank.top_k_limit``, or the filter is
                malformed.
            RetrievalError: no leg of the search could be run.
        """
        refuse_no_text(question)
        if k is not None and k < 1:
            raise UsageError(f"k must be at least 1, not {k}")
        with self.current() as version:
            timings, request = Timings(), version.request(reader, payer)
            governed = self._governed(version, question, request)
            rank, entities = governed.settings.rank, governed.settings.query.entities
            if k is not None and rank.exceeds_limit(k):
                raise UsageError(f"k is {k}, but rank.top_k_limit allows at most {rank.top_k_limit}")
            evidence = await Search(governed).evidence(
                read(question, Context(entities=entities)), where, k or rank.top_k, request, timings
            )
            version.history.statistics().note_search(evidence.hits, timings.milliseconds()["total"])
            return Hits(hits=evidence.hits, notices=(*evidence.missing, *evidence.notices))

    async def suggestions(
        self,
        count: int,
        *,
        reader: Reader,
        payer: Payer | None = None,
        near: tuple[str, int] | None = None,
        where: Filter | None = None,
    ) -> list[Suggestion]:
        """Return questions that were asked, without a language model, and answered by a document, which they stay in.

        Args:
            count: at most.
            reader: who is to read the answers.
            payer: charged with embedding the questions.
            near: the id of a document to stay in, and a character of it; all documents if not given.
            where: filter on the documents, if none is given to stay in.

        Raises:
            NotFound: this reader may read no such document.
        """
        with self.current() as version:
            quiet = _under(version, quoting(version.settings))
            return await suggested(quiet, reader, payer, count, near, where) if version.has_embedder else []

    async def trace(
        self, question: str, where: Filter | str | None = None, *, reader: Reader, shown: int = 30
    ) -> Trace:
        """Return how a search finds the evidence for a question, stage by stage, never from the cache.

        Args:
            question: in any language.
            where: filter on the documents.
            reader: the reader who asks; they see only their documents.
            shown: minimum number of candidates after fusion to show.

        Raises:
            UsageError, RetrievalError: as of `search`.
        """
        refuse_no_text(question)
        with self.current() as version:
            request = version.request(reader)
            governed = self._governed(version, question, request)
            settings = governed.settings
            asked, top_k = read(question, Context(entities=settings.query.entities)), settings.rank.top_k
            return await Search(governed).trace(asked, where, top_k, request, Timings(), shown=shown)

    async def embed(self, texts: Sequence[str], *, role: Role = "passage", payer: Payer | None = None) -> Embedded:
        """Return vectors of texts from the embedder that the knowledge base was built with.

        Raises:
            UsageError: it has none yet, because it is empty.
            EmbeddingError: a service fails.
        """
        with self.current() as version:
            if not version.has_embedder:
                raise UsageError("there is no embedder yet; it is chosen when the first documents are added")
            embedder, request = version.models.embedder(), Request.by_owner()
            request.meter.payer = payer
            vectors = await embedder.embed(texts, role=role, request=request)
            tokens = await asyncio.to_thread(lambda: sum(len(embedder.tokens(text)) for text in texts))
            return Embedded(vectors=vectors, tokens=tokens, embedder=version.settings.index.embedder)

    def warm(self) -> None:
        """Load the parts that a question needs, so that the first one does not wait for them.

        Raises:
            Damaged: the keyword index.
        """
        with self.current() as version:
            if not version.has_embedder:
                return
            indexes, models = version.indexes, version.models
            for part in (indexes.vectors, indexes.keywords, models.question_embedder):
                part()
            for part in (models.answerer, models.judge, models.reranker):
                part()
            Search(version).read_word_lists()

    def status(self, *, reader: Reader = OWNER) -> Status:
        """Return counts, sizes, costs and skipped sources; readers other than the owner get only their counts."""
        with self.current() as version:
            return status_of(version, reader)

    def _changed(self, version: Components) -> Components:
        if self._change is None:
            return version
        return _under(version, self._change(version.settings))

    def _governed(self, version: Components, question: str, request: Request) -> Components:
        """Return the version under the policy in use; unchanged if learning is off for these settings."""
        return in_use(version, question, request) if self._learns else version


def _under(version: Components, settings: Settings) -> Components:
    if settings is version.settings:
        return version
    return version.source.own.part("view", settings, lambda: under(version, settings))()
