"""Choose an embedder that knows the language of the documents, or report that none is installed."""

from __future__ import annotations

import shlex
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import chain
from pathlib import Path
from random import Random
from threading import Event

from ragstone import index
from ragstone.acquire.metadata.language import detect
from ragstone.core.installation import install_command
from ragstone.core.records import Acquired, Document
from ragstone.core.threads import check
from ragstone.settings import AUTO, Settings

SAMPLE = 256
"""Size of the sample of documents that decides."""
LOOK_AHEAD = 20_000
"""Maximum number of items to read before the choice; most may be unchanged files."""
CHARACTERS = 32_000_000
"""Maximum number of characters, and of bytes of pictures, to hold before the choice."""
SECONDS, PATIENCE = 3.0, 30.0
"""Time after which enough documents decide that were read so far, because nothing is stored before; and the time after
which any do, as of a folder of scans."""
ENOUGH = 40
"""Documents of which the sample is like the rest."""
FOREIGN_SHARE = 0.2
"""Share of documents in other languages from which a multilingual embedder is worth its loss in English."""
READ = 2000
"""Number of characters of a document for language detection."""
DETECTABLE = 60
"""Minimum number of characters for language detection; shorter texts are misjudged too often."""
ENGLISH, MULTILINGUAL = "minilm", "e5-small"


class Sample:
    """The beginnings of an even sample of the documents of a stream (Vitter 1985, algorithm R), deterministic."""

    def __init__(self, size: int = SAMPLE) -> None:
        self.documents = list[Document]()
        self._size, self._seen, self._random = size, 0, Random(0)

    def take(self, document: Document) -> None:
        """Consider a document for the sample."""
        self._seen += 1
        place = len(self.documents) if len(self.documents) < self._size else self._random.randrange(self._seen)
        if place < self._size:
            self.documents[place : place + 1] = [
                replace(document, text=document.text[:READ], marks=(), placed=(), pictures=())
            ]

    def watched(self, stream: Iterable[Acquired]) -> Iterator[Acquired]:
        """Yield a stream and consider its documents."""
        for one in stream:
            if isinstance(one, Document):
                self.take(one)
            yield one


def ahead(stream: Iterable[Acquired], stop: Event) -> tuple[list[Document], Iterator[Acquired]]:
    """Return a sample of the beginning of a stream, and the whole stream; end early when ``stop`` is set.

    Rows of a table are read in far less than `SECONDS`, so the sample is of all of them.
    """
    iterator, read, sample = iter(stream), list[Acquired](), Sample()
    characters, begun = 0, time.monotonic()
    for acquired in iterator:
        check(stop)
        read.append(acquired)
        if isinstance(acquired, Document):
            sample.take(acquired)
            characters += len(acquired.text) + sum(map(len, acquired.pictures))
        patience = SECONDS if len(sample.documents) >= ENOUGH else PATIENCE
        late = bool(sample.documents) and time.monotonic() > begun + patience
        if late or characters >= CHARACTERS or len(read) == LOOK_AHEAD:
            break
    return sample.documents, chain(read, iterator)


def foreign(documents: Iterable[Document]) -> str:
    """Return the ISO 639-1 code that most documents not in English have; empty if these are few."""
    return foreign_among(Counter(language for language in map(_language, documents) if language))


def foreign_among(amounts: Mapping[str, float]) -> str:
    """Return the most common language besides English, given the amount in each; empty if it is little."""
    others = {language: amount for language, amount in amounts.items() if language != "en"}
    is_many = bool(others) and sum(others.values()) >= FOREIGN_SHARE * sum(amounts.values())
    return max(others, key=lambda language: others[language]) if is_many else ""


def suited(language: str) -> str:
    """Return the best installed embedder for many documents in this language, given as by `foreign`."""
    return MULTILINGUAL if language and index.has_multilingual() else ENGLISH


def settled(settings: Settings, documents: Iterable[Document]) -> Settings:
    """Return the settings with an open embedder resolved to the one that suits a sample of documents."""
    if settings.index.embedder != AUTO:
        return settings
    sample = Sample()
    for one in documents:
        sample.take(one)
    named = settings.index.model_copy(update={"embedder": suited(foreign(sample.documents))})
    return settings.model_copy(update={"index": named})


def advice(language: str, folder: Path) -> tuple[str, ...]:
    """Return a notice about the limits of the English embedder in this language, with the commands that help."""
    if not language:
        return ()
    command = shlex.join(["ragstone", "rebuild", "--kb", str(folder), "--set", f"index.embedder={MULTILINGUAL}"])
    install = "" if index.has_multilingual() else f"{install_command('multilingual')} && "
    return (
        f"many documents are not in English ({language}), and the embedder {ENGLISH} knows English only: only keyword"
        " search finds them, and only for questions in their own language. For an embedder that knows a hundred"
        f" languages, run: {install}{command}",
    )


def _language(document: Document) -> str:
    if len(document.text) < DETECTABLE:
        return ""
    named = document.metadata.get("language")
    return named.lower() if isinstance(named, str) and len(named) == 2 else detect(document.text)
