"""Settings of questions that administrators change while the server runs: which, to what, and the engine under them."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial

from pydantic import BaseModel, ValidationError

from ragstone.core.errors import KnowledgeBaseError, NotFound, SettingsError
from ragstone.engine.knowledge_base import Change, KnowledgeBase
from ragstone.history.changed_settings import ChangedSetting, ChangedSettings, Value
from ragstone.serve.http.chosen_model import MODEL, SERVERS, with_models
from ragstone.serve.http.question_settings import QuestionSettings, apply
from ragstone.serve.http.telemetry import log_error
from ragstone.settings import Settings

CHANGEABLE = (
    "respond.abstain_below",
    "respond.sentences",
    "respond.language",
    "respond.memory_tokens",
    "rank.top_k",
    "rank.reranker",
    "query.vector_weight",
)
"""What an administrator may change while the server runs; questions may bring any setting of `QuestionSettings`."""
COLLECTIONS = "collections."
"""Begins the path under which a collection is stored."""
SOURCES = "sources."
"""Begins the path under which a source is stored that an administrator added."""
LOOK_SECONDS = 1.0
"""How long a server relies on the values it has read."""


@dataclass(slots=True)
class LiveSettings:
    """The engine of a server under the settings that administrators changed."""

    engine: KnowledgeBase
    stored: ChangedSettings
    _changed: Mapping[str, ChangedSetting] = field(default_factory=dict[str, ChangedSetting])
    _looked: float = float("-inf")
    _looking: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def under(self, change: Change | None) -> KnowledgeBase:
        """Return the engine under the changed settings and those of one question, which come before them."""
        changed = await self.changed()
        if not changed:
            return self.engine.under(change) if change else self.engine
        live = partial(held, changed=changed)
        if change is None:
            return self.engine.under(live, learns=True)
        return self.engine.under(lambda settings: change(live(settings)))

    async def settings(self) -> Settings:
        """Return the settings that hold for a question that changes none."""
        return (await self.under(None)).settings

    async def added_sources(self) -> list[str]:
        """Return the sources that administrators added, by name."""
        return sorted(str(one.value) for path, one in (await self.changed()).items() if path.startswith(SOURCES))

    async def changed(self) -> Mapping[str, ChangedSetting]:
        """Return the changed settings, as they were a second ago at most; the last known if they cannot be read."""
        async with self._looking:  # a look that began before a change must not end after one that shows it
            if time.monotonic() - self._looked > LOOK_SECONDS:
                self._looked = time.monotonic()
                try:
                    found = await asyncio.to_thread(self.stored.all)
                except KnowledgeBaseError as error:
                    log_error(error, {"during": "reading the changed settings"})
                else:
                    self._changed = {path: one for path, one in found.items() if _is_known(path)}
        return self._changed

    async def set(self, settings: Settings, path: str, value: Value | None) -> None:
        """Change a setting for all servers of the knowledge base; None lets the settings hold again.

        Raises:
            NotFound: this setting cannot be changed.
            SettingsError: the value is not allowed, or contradicts another one.
            KnowledgeBaseError: it could not be stored.
        """
        if path not in CHANGEABLE:
            raise NotFound(f"'{path}' cannot be changed while the server runs; {', '.join(CHANGEABLE)} can")
        if value is not None:
            others = {name: one.value for name, one in (await self.changed()).items() if name in CHANGEABLE}
            apply(settings, _checked({**others, path: value}))
        await self.store(path, value)

    async def store(self, path: str, value: Value | None) -> None:
        """Store a value that was checked, for all servers of the knowledge base; None removes it.

        Raises:
            KnowledgeBaseError: it could not be stored.
        """
        if value is None:
            await asyncio.to_thread(self.stored.reset, path)
        else:
            await asyncio.to_thread(self.stored.set, path, value)
        self._looked = float("-inf")


def held(settings: Settings, changed: Mapping[str, ChangedSetting]) -> Settings:
    """Return the settings with what administrators changed."""
    wanted = _parsed({path: one.value for path, one in changed.items() if path in CHANGEABLE})
    return apply(with_models(settings, changed), wanted)


def _is_known(path: str) -> bool:
    return path in CHANGEABLE or path == MODEL or path.startswith((SERVERS, COLLECTIONS, SOURCES))


def _checked(values: Mapping[str, Value]) -> BaseModel:
    try:
        return QuestionSettings.model_validate(values)
    except ValidationError as error:
        first = error.errors()[0]
        raise SettingsError(f"{'.'.join(map(str, first['loc']))}: {first['msg']}") from error


def _parsed(values: Mapping[str, Value]) -> BaseModel | None:
    """Return values that were checked when they were stored; None if another version of Ragstone stored them."""
    try:
        return _checked(values)
    except SettingsError:
        return None
