"""How one process at a time changes what is stored, and brings the indexes up to it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack, asynccontextmanager, contextmanager, suppress
from dataclasses import replace
from pathlib import Path

from ragstone import index
from ragstone.errors import EngineError, KnowledgeBaseError, Locked
from ragstone.keeping.moving import Moving
from ragstone.parts import BuildEmbedder, Parts
from ragstone.reports import AddReport
from ragstone.sections import Settings


class Indexing(Moving):
    """The part of an engine that holds the lock of the knowledge base."""

    def __init__(
        self,
        home: index.Home,
        version: Path,
        catalog: index.AnyCatalog,
        settings: Settings,
        patience: index.Patience | None = None,
        *,
        held: index.Held | None = None,
        build_embedder: BuildEmbedder = index.build_embedder,
        lender: Parts | None = None,
    ) -> None:
        super().__init__(home, version, catalog, settings, held=held, build_embedder=build_embedder, lender=lender)
        self._patience = patience or index.Patience()

    async def _with_engines(self, report: AddReport) -> AddReport:
        """The report, and whether an engine outside has not taken in what is stored now."""
        engines = await asyncio.to_thread(self._engines)
        told = [one.problem or f"{one.engine} is {one.behind:,} changes behind" for one in engines]
        again = "; the documents are stored, and it catches up when it is back"
        return replace(report, notices=(*report.notices, *(f"{one}{again}" for one in told)))

    def _engines(self) -> list[index.EngineStatus]:
        """Of the engines outside those that are away, or behind."""
        return [one for leg in self._outside() if (one := leg.status()).behind or one.problem]

    @asynccontextmanager
    async def _indexing(self) -> AsyncIterator[None]:
        """Hold the lock; what was committed inside is searchable afterwards, even if the rest failed."""
        with await self._waited_for():
            try:
                yield
            except BaseException:
                with suppress(KnowledgeBaseError):  # the first error says more
                    self._follow()
                raise
            await self._follow_whole()

    async def _follow_whole(self) -> None:
        """`_follow` in a thread, to its end: what its caller holds is held until the thread has finished."""
        following = asyncio.ensure_future(asyncio.to_thread(self._follow))
        try:
            await asyncio.shield(following)
        except asyncio.CancelledError:
            await following
            raise

    async def _waited_for(self, patience: index.Patience | None = None) -> ExitStack:
        """The lock, held; waited for without keeping the event loop from others."""
        pause, held = (patience or self._patience).pauses(), ExitStack()
        while True:
            try:
                held.enter_context(self._locked(index.ONCE))
                return held
            except Locked as refusal:
                await asyncio.sleep(pause(refusal))

    @contextmanager
    def _locked(self, patience: index.Patience | None = None) -> Iterator[None]:
        with self._home.indexing(patience or self._patience):
            self._refuse_superseded()
            self._home.settle()
            yield

    def _refuse_superseded(self) -> None:
        if self.superseded:  # what is written to the old version would be lost with it
            raise KnowledgeBaseError(f"{self._home.folder} was rebuilt this very moment; try again")

    def _follow(self) -> None:
        """Bring the indexes up to the catalog; only under the lock."""
        self._terms.follow()
        for leg in (self._keywords, self._vectors, self._documents):
            if isinstance(leg, index.Outside) and leg.problem:
                continue  # it is away: nobody who adds waits for it
            if leg is not None and leg is not self._terms:
                with suppress(EngineError):  # it is told by `_with_engines`, and catches up when it is back
                    leg.follow(write=True)

    async def _followed_catalog(self) -> tuple[str, ...]:
        """Bring the keyword index up to date, where an indexer was cut short; the vector index does so by itself.

        Returns:
            Why that could not be done, if so.
        """
        if "_terms" in self.__dict__ and self._terms.stamp == self._catalog.stamp():
            return ()  # two looks, quicker than a thread is asked
        return await asyncio.to_thread(self._follow_catalog)

    def _follow_catalog(self) -> tuple[str, ...]:
        if self._terms.stamp == self._catalog.stamp():
            return ()
        try:
            with index.indexing(self._home.folder, index.ONCE, asking=True):
                self._terms.follow()
                if self._home.is_shared and self._settle():  # no indexer of this host will
                    self._vectors.follow(write=True)
        except Locked:
            return ("indexing is under way; keyword search does not know the newest documents yet",)
        except KnowledgeBaseError as error:
            return (f"keyword search is not up to date: {error}",)
        return ()
