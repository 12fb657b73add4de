"""How an open knowledge base follows a rebuild, or a change of engines: the next call goes to what is new.

Calls that are under way end first.
"""

from __future__ import annotations

import inspect
import threading
from collections.abc import Callable
from contextlib import aclosing
from functools import wraps
from pathlib import Path
from typing import Any, Concatenate, ParamSpec, TypeVar

from ragstone import index
from ragstone.config import Tree
from ragstone.errors import RagstoneError
from ragstone.parts import HEAVY, BuildEmbedder, Parts
from ragstone.sections import Settings

P = ParamSpec("P")
R = TypeVar("R")
M = TypeVar("M", bound="Moving")


class Moving(Parts):
    """One version of a knowledge base, and behind it the one that took its place, if one did."""

    def __init__(
        self,
        home: index.Home,
        version: Path,
        catalog: index.AnyCatalog,
        settings: Settings,
        *,
        held: index.Held | None,
        build_embedder: BuildEmbedder,
        lender: Parts | None,
    ) -> None:
        super().__init__(version, catalog, settings, build_embedder=build_embedder, lender=lender)
        self._home, self._held = home, held
        self._moving = threading.Lock()
        self._newer: Moving | None = None
        self._calls, self._replaced = 0, False
        self._engines_in_use = home.engines()

    @property
    def superseded(self) -> bool:
        """Whether a rebuild has put another version in the place of this one."""
        return self._home.current() != self._version

    @property
    def remembered(self) -> Tree:
        """The settings that the knowledge base remembers: what it was built with, and its engines."""
        return self._built.remembered(self._home.engines())

    @property
    def _is_outdated(self) -> bool:
        """Whether this would be another one, were it opened now."""
        return self.superseded or self._home.engines() != self._engines_in_use

    def close(self) -> None:
        """Let go of the files."""
        if self._newer is not None:
            self._newer.close()
        self._let_go()

    def _reopened(self) -> Moving | None:
        """The version and the engines now in use, with the settings of this one as far as they fit.

        Nothing where this one stays.
        """
        return None

    def _enter(self) -> Moving:
        """The newest version, which stays open until it is left."""
        with self._moving:
            newest = self._newer or self
            try:
                newer = newest._reopened() if newest._held and newest._is_outdated else None
            except RagstoneError:  # what is open still answers
                newer = None
                newest._engines_in_use = self._home.engines()  # which this process cannot use
            if newer is not None:
                self._newer, old, newest = newer, newest, newer
                old._replaced = True
                if old._calls == 0:
                    old._let_go()
            newest._calls += 1
            return newest

    def _leave(self, entered: Moving) -> None:
        with self._moving:
            entered._calls -= 1
            if entered._replaced and entered._calls == 0:
                entered._let_go()

    def _let_go(self) -> None:
        if (learner := self.__dict__.get("_learner")) and not self._lender:
            learner.close()
        self._catalog.close()
        self._cache.close()
        if (statistics := self.__dict__.get("_statistics")) and not self._lender:
            statistics.close()
        if (journal := self.__dict__.get("_journal")) and not self._lender:
            journal.close()
        if self._held is not None:
            self._held.let_go()
        for part in HEAVY:
            self.__dict__.pop(part, None)


def on_newest(method: Callable[Concatenate[M, P], R]) -> Callable[Concatenate[M, P], R]:
    """A method that is run on the version that is in use when it is called."""

    @wraps(method)
    async def _awaited(self: Any, *args: Any, **kwargs: Any) -> Any:
        newest = self._enter()
        try:
            return await method(newest, *args, **kwargs)  # pyright: ignore[reportGeneralTypeIssues]
        finally:
            self._leave(newest)

    @wraps(method)
    async def _streamed(self: Any, *args: Any, **kwargs: Any) -> Any:
        newest = self._enter()
        try:
            async with aclosing(method(newest, *args, **kwargs)) as parts:  # pyright: ignore[reportArgumentType]
                async for part in parts:
                    yield part
        finally:
            self._leave(newest)

    @wraps(method)
    def _plain(self: Any, *args: Any, **kwargs: Any) -> Any:
        newest = self._enter()
        try:
            return method(newest, *args, **kwargs)
        finally:
            self._leave(newest)

    if inspect.isasyncgenfunction(method):
        return _streamed  # pyright: ignore[reportReturnType]
    return _awaited if inspect.iscoroutinefunction(method) else _plain  # pyright: ignore[reportReturnType]
