"""The common part of the embedded models: texts to windows, windows to token vectors, token vectors to text vectors.

Pooling: Reimers and Gurevych 2019, "Sentence-BERT" (arXiv 1908.10084): the mean over all tokens, markers included.
A passage whose first line is a question, as in a list of frequent questions, gets a share of the vector of that line,
which is what people ask. On a FAQ in five languages (development part of covid_faq_kb) this raises nDCG@10 by .013 with
MiniLM and .015 with e5-small. A vector of its own for each question, the better of both counting, gained no more
(+.020 and +.018, with intervals from below 0), and doubles the index.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import pairwise
from threading import Event
from typing import TYPE_CHECKING, Protocol

import numpy as np

from ragstone.core.headings import is_question
from ragstone.core.records import Span, TokenVectors
from ragstone.core.request import Request
from ragstone.core.threads import check, computed, side_by_side

if TYPE_CHECKING:
    from ragstone.core.protocols import Role
    from ragstone.core.records import Vector


QUESTION_SHARE = 0.25
"""The weight of the vector of a leading question, relative to that of the whole passage."""
_LONGEST_QUESTION = 300
"""Characters of a first line that can be the question of a passage."""


class Encoded(Protocol):
    """A tokenized text."""

    @property
    def ids(self) -> list[int]: ...

    @property
    def offsets(self) -> list[tuple[int, int]]:
        """The characters of each token."""
        ...


class Network(Protocol):
    """The layers of a model on an inference engine."""

    @property
    def threads(self) -> int:
        """How many calls of `run` may be under way at once."""
        ...

    def run(self, embedded: Vector) -> Vector:
        """Return token vectors (texts, tokens, dimensions) of the embeddings of texts with equally many tokens."""
        ...


class Model(Protocol):
    """What differs between the embedded models."""

    @property
    def dimensions(self) -> int: ...

    @property
    def window(self) -> int:
        """Tokens read at once, without markers; longer texts are read in windows of nearly equal length."""
        ...

    @property
    def batch_tokens(self) -> int:
        """Tokens computed at once, unless one window has more; 1 computes each window by itself."""
        ...

    @property
    def before(self) -> Mapping[Role, Sequence[int]]:
        """Ids before a window, by the role of the text."""
        ...

    @property
    def after(self) -> Sequence[int]:
        """Ids after a window."""
        ...

    def encode(self, texts: Sequence[str]) -> Sequence[Encoded]:
        """Return the tokens of each text, however long, without markers."""
        ...

    def look_up(self, ids: np.ndarray) -> Vector:
        """Return the network's input for ids (windows, tokens): words and places (windows, tokens, dimensions)."""
        ...

    @property
    def network(self) -> Network: ...

    def comparable(self, vectors: Vector) -> Vector:
        """Return token vectors (tokens, dimensions) in a form that can be compared, L2-normalised."""
        ...


class Encoder:
    """Reads texts with a model: one vector for each text, or one for each token."""

    def __init__(self, model: Model) -> None:
        self._model = model

    def tokens(self, text: str) -> list[Span]:
        """Return the tokens of a text, however long, in order."""
        return [Span(start=start, end=end) for start, end in self._model.encode([text])[0].offsets]

    async def embed(self, texts: Sequence[str], *, role: Role, request: Request) -> Vector:  # noqa: ARG002
        """Return the mean of the token vectors of each text, L2-normalised; a long text is read in windows.

        A passage that begins with a question gets a share of the vector of that question.
        """
        stop = Event()
        try:
            return await asyncio.to_thread(self._embed, texts, role, stop)
        except asyncio.CancelledError:
            stop.set()  # The thread ends after its batch, so that the program can end.
            raise

    async def embed_tokens(
        self,
        texts: Sequence[str],
        *,
        role: Role,
        request: Request,
    ) -> list[TokenVectors]:
        """Return the vectors of each text's own tokens, L2-normalised, each read within its window."""
        return await computed(partial(self._embed_tokens, texts, role), can_wait=request.can_wait)

    def _embed(self, texts: Sequence[str], role: Role, stop: Event) -> Vector:
        if role != "passage":
            return self._pooled(texts, role, stop)
        asked = {place: question for place, text in enumerate(texts) if (question := leading_question(text))}
        vectors = self._pooled([*texts, *asked.values()], role, stop)
        passages, questions, places = vectors[: len(texts)], vectors[len(texts) :], list(asked)
        passages[places] = unit(passages[places] + np.multiply(questions, QUESTION_SHARE, dtype=np.float32))
        return passages

    def _pooled(self, texts: Sequence[str], role: Role, stop: Event) -> Vector:
        owners, windows = self._windows(self._model.encode(texts), role)
        sums = np.zeros((len(texts), self._model.dimensions), dtype=np.float32)
        for batch, vectors in self._run(windows, lambda vectors: vectors.sum(axis=1), stop):
            np.add.at(sums, [owners[i] for i in batch], vectors)
        return unit(sums)

    def _embed_tokens(self, texts: Sequence[str], role: Role) -> list[TokenVectors]:
        encoded = self._model.encode(texts)
        owners, windows = self._windows(encoded, role)
        first, behind = len(self._model.before[role]), len(self._model.after)
        parts: list[list[Vector]] = [[] for _ in texts]
        by_window: dict[int, Vector] = {}
        for batch, vectors in self._run(windows, lambda vectors: vectors):
            for i, rows in zip(batch, vectors, strict=True):
                by_window[i] = rows[first : len(rows) - behind]
        for i, owner in enumerate(owners):
            parts[owner].append(by_window[i])
        out = list[TokenVectors]()
        for one, part in zip(encoded, parts, strict=True):
            vectors = self._model.comparable(np.concatenate(part))
            out.append(TokenVectors(vectors=vectors, spans=tuple(Span(start=a, end=b) for a, b in one.offsets)))
        return out

    def _run(
        self, windows: Sequence[Sequence[int]], kept: Callable[[Vector], Vector], stop: Event | None = None
    ) -> Iterator[tuple[list[int], Vector]]:
        """Yield the indices of the windows of each batch, and what is kept of its vectors."""
        model, cut = self._model, batches(windows, self._model.batch_tokens)

        def run(batch: list[int]) -> Vector:
            check(stop)
            return kept(model.network.run(model.look_up(np.array([windows[i] for i in batch]))))

        yield from zip(cut, side_by_side(run, cut, model.network.threads), strict=True)

    def _windows(self, encoded: Sequence[Encoded], role: Role) -> tuple[list[int], list[list[int]]]:
        """Return the number of the text of each window, and the windows as token ids with markers."""
        owners, windows = list[int](), list[list[int]]()
        for owner, one in enumerate(encoded):
            ids = one.ids
            count = max(1, -(-len(ids) // self._model.window))
            edges = [len(ids) * i // count for i in range(count + 1)]
            for start, end in pairwise(edges):
                owners.append(owner)
                windows.append([*self._model.before[role], *ids[start:end], *self._model.after])
        return owners, windows


def batches(windows: Sequence[Sequence[int]], batch_tokens: int) -> list[list[int]]:
    """Return the indices of windows in batches of one length, so that nothing is spent on padding.

    Args:
        windows: token ids.
        batch_tokens: tokens of a batch at most, unless one window has more.
    """
    by_length = defaultdict[int, list[int]](list)
    for i, window in enumerate(windows):
        by_length[len(window)].append(i)
    batches: list[list[int]] = []
    for length, equal in sorted(by_length.items()):
        size = max(1, batch_tokens // max(1, length))
        batches += (equal[start : start + size] for start in range(0, len(equal), size))
    return batches


def leading_question(passage: str) -> str:
    """Return the first line of a passage if it is a question and has an answer below it; otherwise an empty text."""
    line, _, answer = passage.partition("\n")
    line = line.strip()
    asks = is_question(line) and len(line) <= _LONGEST_QUESTION
    return line if asks and answer.strip() else ""


def trusted(coverage: float, *, least: float, most: float, covered: float) -> float:
    """Return a weight of vectors that falls from ``most`` to ``least`` as keyword search covers more of the question.

    Args:
        coverage: how much of the question the best keyword match contains, 0 to 1.
        least: the weight if keyword search covers the question.
        most: the weight if it finds nothing of it.
        covered: the coverage from which the question counts as covered.
    """
    return least + (most - least) * max(0.0, 1 - coverage / covered)


def unit(vectors: Vector) -> Vector:
    """Return the rows scaled to length one."""
    return vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)
