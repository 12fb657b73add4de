"""The request: a record of the reader, the deadline and the budget, passed as an argument.

Nothing is ambient. A search without a request does not type-check, and a request sees only what its reader may read
unless it says otherwise.
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass, field
from threading import Event
from typing import Literal

from ragstone.core.access import OWNER, Reader
from ragstone.core.answers import Sent, Usage
from ragstone.core.filters import Filter
from ragstone.core.frozen import frozen

BILLION = 1_000_000_000
"""Money is counted in billionths of a unit."""

Purpose = Literal["question", "ingest", "other"]


@frozen
class Deadline:
    """The time by which all service calls of a request must end; ``seconds`` is their total time."""

    ends: float
    seconds: float

    @classmethod
    def after(cls, seconds: float) -> Deadline:
        """Return the deadline after this number of seconds."""
        return cls(ends=time.monotonic() + seconds, seconds=seconds)


@dataclass(slots=True)
class Payer:
    """Sums the cost of requests, including failed ones: money in billionths, for calls with a known price."""

    cost: int = 0


@dataclass(slots=True)
class Meter:
    """Counts what one request uses.

    ``id`` becomes that of the answer. ``embedded`` counts texts; ``cached`` names the steps whose result was in the
    cache. ``embedding_*`` count an embedding service's answered requests, tokens and failed attempts. ``cost`` is money
    in billionths, for calls with a known price; ``unpriced`` counts the other calls. ``sent`` are the calls of services
    outside this process.
    """

    id: str = field(default_factory=lambda: uuid.uuid4().hex)
    purpose: Purpose = "other"
    payer: Payer | None = None
    embedded: int = 0
    embedding_calls: int = 0
    embedding_tokens: int = 0
    embedding_retries: int = 0
    cached: list[str] = field(default_factory=list)
    model_calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost: int = 0
    unpriced: int = 0
    notices: list[str] = field(default_factory=list)
    sent: list[Sent] = field(default_factory=list)

    def note_sent(self, kind: str, address: str, what: str) -> None:
        """Note a call of a service; one in this process has no address and is none."""
        if address:
            self.sent.append(Sent(kind=kind, address=address, what=what))

    def count_embedding_calls(self, *, calls: int, tokens: int, retries: int, cost: int | None = 0) -> None:
        """Count calls of an embedding service; ``cost`` is in billionths, None where no price is known."""
        self.embedding_calls += calls
        self.embedding_tokens += tokens
        self.embedding_retries += retries
        self._charge(cost)

    def count_model_call(self, *, prompt_tokens: int, completion_tokens: int, cost: int | None) -> None:
        """Count one call of a language model; ``cost`` is in billionths, None where no price is known."""
        self.model_calls += 1
        self.prompt_tokens += prompt_tokens
        self.completion_tokens += completion_tokens
        self._charge(cost)

    def _charge(self, cost: int | None) -> None:
        self.cost += cost or 0
        self.unpriced += cost is None
        if self.payer:
            self.payer.cost += cost or 0

    def usage(self) -> Usage:
        """Return the counts as an answer reports them."""
        return Usage(
            embedded_texts=self.embedded,
            embedding_calls=self.embedding_calls,
            embedding_tokens=self.embedding_tokens,
            cached=tuple(self.cached),
            model_calls=self.model_calls,
            prompt_tokens=self.prompt_tokens,
            completion_tokens=self.completion_tokens,
            cost=None if self.unpriced else self.cost / BILLION,
        )


@frozen
class Request:
    """One question or one ingest: its reader, its deadline and its budget.

    Work in threads ends soon after ``stop`` is set. ``restricts`` returns whether any stored document is restricted
    for the reader now; without any, their filter, which would admit everything, is omitted. ``is_kept`` says whether
    the turn and its answer are stored. ``language`` is the ISO 639-1 code of the interface's language, for a question
    whose words are of no known language; it may be empty. Work that ``can_wait`` leaves threads to work that somebody
    waits for.
    """

    reader: Reader
    deadline: Deadline | None = None
    meter: Meter = field(default_factory=Meter)
    restricts: Callable[[], bool] | None = None
    is_kept: bool = True
    language: str = ""
    can_wait: bool = False
    stop: Event = field(default_factory=Event)

    @property
    def allowed(self) -> Filter | None:
        """The filter on what may be read; None admits everything."""
        return None if self.restricts and not self.restricts() else self.reader.allowed

    @classmethod
    def by_owner(cls, purpose: Purpose = "other", *, deadline: Deadline | None = None) -> Request:
        """Return a request of the owner of the files, for work such as an ingest."""
        return cls(reader=OWNER, deadline=deadline, meter=Meter(purpose=purpose))
