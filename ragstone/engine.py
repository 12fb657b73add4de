"""The composition root: the one place that knows the order of the stages.

add:  acquire -> chunk -> index
ask:  index -> query -> rank -> respond
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import aclosing, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ragstone import index
from ragstone.access import OWNER, Reader
from ragstone.answers import Event, Turn
from ragstone.asking import Asker
from ragstone.conditions import Filter
from ragstone.config import changed, load
from ragstone.errors import NotFound, UsageError
from ragstone.keeping.built import BuiltWith, create_version, refuse_mismatch
from ragstone.keeping.homes import home_at, refuse_elsewhere
from ragstone.keeping.moving import on_newest
from ragstone.parts import BuildEmbedder, loads_alike
from ragstone.protocols import Role
from ragstone.remembered import latest_questions
from ragstone.sections import AUTO, Settings
from ragstone.substitutes import refuse_unavailable

if TYPE_CHECKING:
    from ragstone.contracts import Vector


@dataclass(frozen=True, slots=True, kw_only=True)
class Embedded:
    """Vectors of texts, a row each, the tokens of all of them, and the name of the embedder."""

    vectors: Vector
    tokens: int
    embedder: str


class Engine(Asker):
    """One knowledge base. Opening is cheap: models and indexes are loaded when first needed.

    After a rebuild, its own or another process's, the next call is answered from the new version.
    """

    _follows = True

    @classmethod
    def open(
        cls,
        folder: str | Path,
        overrides: Sequence[str] = (),
        *,
        preset: str | None = None,
        create: bool = False,
        as_built: bool = False,
        patience: index.Patience | None = None,
        build_embedder: BuildEmbedder = index.build_embedder,
    ) -> Engine:
        """Open a knowledge base.

        Args:
            folder: where it lies.
            overrides: settings as ``path=value``.
            preset: name or path of a preset; the one it was made with if not given.
            create: make an empty one where there is none.
            as_built: settings that do not fit what is stored give way to what it was built with.
            patience: how long whoever changes something waits for another process that does; not at all if not given.
            build_embedder: gives the embedder that the settings name; one that is loaded can so serve several engines.

        Raises:
            NotFound: there is none, and ``create`` is false.
            SettingsError: a setting is wrong.
            SettingsMismatch: a setting asked for differs from the one it was built with.
            MissingExtra: an engine is named whose package is not installed.
        """
        home = home_at(Path(folder), overrides, preset)
        held = home.enter()
        if held is None:
            loaded = load(overrides, preset=preset)
            if not create:
                raise NotFound(f"there is no knowledge base at {folder}; make one: ragstone add SOURCE --kb {folder}")
            refuse_unavailable(loaded.settings)
            home.make()
            with home.indexing(patience):
                if (held := home.enter()) is None:
                    is_open = loaded.settings.index.embedder == AUTO
                    chosen = loaded.settings
                    embedder = None if is_open else build_embedder(chosen.index, chosen.services)
                    built = BuiltWith.of(loaded.settings, embedder)
                    home.switch(create_version(home, built))
                    held = home.enter()
        elif create and not home.is_settled:  # what is told to be there must be there after a power cut
            with home.indexing(patience):
                home.settle()
        assert held is not None, "a version was made just now"
        return cls._of(
            home, held, overrides, preset, as_built=as_built, patience=patience, build_embedder=build_embedder
        )

    @classmethod
    def _of(
        cls,
        home: index.Home,
        held: index.Held,
        overrides: Sequence[str],
        preset: str | None,
        *,
        as_built: bool,
        patience: index.Patience | None,
        build_embedder: BuildEmbedder,
    ) -> Engine:
        catalog = None
        try:
            catalog = home.catalog(held.version)
            built = BuiltWith(**catalog.built_with())
            engines = home.engines()
            loaded = load(overrides, preset=preset, remembered=built.remembered(engines))
            refuse_elsewhere(loaded, home)
            if not as_built:
                refuse_mismatch(loaded, built, home.folder)
            settings = built.put_into(loaded.settings) if as_built else built.settled(loaded.settings)
            settings = built.with_rules(settings)
            refuse_unavailable(settings)
        except BaseException:
            if catalog is not None:
                catalog.close()
            held.let_go()
            raise
        engine = cls(home, held.version, catalog, settings, patience, held=held, build_embedder=build_embedder)
        engine._asked_for, engine.substitutes = (overrides, preset), loaded.substitutes
        engine._engines_in_use = engines
        return engine

    def _reopened(self) -> Engine | None:
        """The version now in use. What it was built with stands above what was asked for when this one was opened."""
        held = self._home.enter() if self._follows else None
        if held is None:
            return None
        newer = self._sibling(held, *self._asked_for)
        if "_embedder" in self.__dict__ and loads_alike(newer.settings.index, self.settings.index):
            newer._embedder = self._embedder  # loading a model takes longer than all else
        try:
            newer._outside()  # an engine that cannot be made here is told now, while the other still answers
        except BaseException:
            newer.close()
            raise
        return newer

    def _sibling(self, held: index.Held, overrides: Sequence[str], preset: str | None) -> Engine:
        patience, build = self._patience, self._build_embedder
        return Engine._of(self._home, held, overrides, preset, as_built=True, patience=patience, build_embedder=build)

    @on_newest
    def uncached(self, *, beside: bool = False) -> Engine:
        """A second engine that works everything out anew and stays with its version: this one, or the one beside.

        Args:
            beside: of the version that a rebuild left beside this one.

        Raises:
            NotFound: there is none.
        """
        version = self._home.next() if beside else self._version
        if version is None:
            raise NotFound(f"there is no other version beside the one in use of {self._home.folder}")
        overrides, preset = self._asked_for
        asked = (*overrides, "cache.enabled=false", "review.responses_days=0", "review.statistics_days=0")
        engine = self._sibling(index.Held(version), asked, preset)
        engine._follows = False
        return engine

    @on_newest
    def latest_questions(self, count: int) -> list[str]:
        """The questions asked last, newest first; none where ``cache.questions`` is off."""
        return latest_questions(self._cache, count)

    @on_newest
    def clear_cache(self) -> None:
        """Forget what is kept of earlier questions; nothing but time is lost."""
        self._cache.clear()

    @on_newest
    async def stream_with(
        self,
        change: Callable[[Settings], Settings],
        question: str,
        where: Filter | str | None = None,
        *,
        before: Sequence[Turn] = (),
        session: str = "",
        reader: Reader = OWNER,
    ) -> AsyncGenerator[Event]:
        """`stream` under other settings of the question: what ``change`` makes of those in force.

        Raises:
            SettingsMismatch: something else would be stored under these settings.
        """
        settings = change(self.settings)
        engine = self if settings is self.settings else self.with_settings(settings)
        async with aclosing(engine.stream(question, where, before=before, session=session, reader=reader)) as events:
            async for event in events:
                yield event

    @on_newest
    async def embed(self, texts: Sequence[str], *, role: Role = "passage") -> Embedded:
        """Vectors of texts, by the embedder that the knowledge base was built with.

        Raises:
            UsageError: it has none yet, for nothing was added.
            EmbeddingError: a service fails.
        """
        if not self._settle():
            raise UsageError("there is no embedder yet; it is chosen when the first documents are added")
        vectors = await self._embedder.embed(texts, role=role)
        tokens = await asyncio.to_thread(lambda: sum(len(self._embedder.tokens(text)) for text in texts))
        return Embedded(vectors=vectors, tokens=tokens, embedder=self.settings.index.embedder)

    def warm(self) -> None:
        """Load what a question needs, so that the first one need not wait for it."""
        if self._settle():
            _ = self._vectors, self._keywords, self._question_embedder, self._answerer, self._judge, self._reranker
            self.read_words()

    @property
    def folder(self) -> Path:
        """Where the knowledge base lies."""
        return self._home.folder

    @on_newest
    def use(self, engines: Mapping[str, str]) -> tuple[index.EngineStatus, ...]:
        """Fill other engines with all that is stored, and then let everybody ask them who has this open.

        Until they are full, and where that fails, the ones before are asked. Nobody need be started anew. Who was told
        an engine by settings of its own keeps to that one.

        Args:
            engines: names of engines by the leg of the search: ``vectors``, ``keywords``.

        Raises:
            SettingsError: there is no such engine, or a setting that it needs is missing.
            EngineError: it cannot be reached, or refuses.
            Locked: another process is indexing.
        """
        other = self.with_settings(changed(self.settings, {"index": dict(engines)}))
        with self._locked():
            if self._settle():
                other._terms.follow()
                for leg in (other._keywords, other._vectors):
                    leg.follow(write=True)
            self._home.take_into_use(engines)
        return tuple(leg.status() for leg in other._outside())

    @on_newest
    def compare_engines(self, *, mend: bool = False) -> tuple[index.Finding, ...]:
        """What engines outside lack, or have and should not.

        Args:
            mend: bring them up, then put and delete what differs.

        Raises:
            Locked: something is to be mended while another process is indexing.
        """
        with self._locked() if mend else nullcontext():
            return tuple(index.differences(self._outside(), mend=mend))
