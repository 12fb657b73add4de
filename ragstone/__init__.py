"""Ragstone answers questions from your own documents and shows the exact words each answer rests on.

>>> from ragstone import Ragstone
>>> with Ragstone("kb") as kb:
...     report = kb.add("docs/")
...     print(kb.ask("When was the pump in hall three built?"))
The pump in hall three runs at 4 bar. It was built in 1987. [1]
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ragstone.core.lazy_names import lazily

if TYPE_CHECKING:
    from ragstone.core.access import Reader
    from ragstone.core.answers import Answer, Answered, Citation, EvidenceFound, Failed, SentenceClosed, TextWritten
    from ragstone.core.errors import RagstoneError
    from ragstone.core.records import Chunk, Document, Hit
    from ragstone.core.reports import AddReport, Progress
    from ragstone.engine.knowledge_base import KnowledgeBase
    from ragstone.serve.blocking import Ragstone
    from ragstone.serve.library import AsyncRagstone
    from ragstone.settings import Settings

__version__ = "0.1.0"
__all__ = [
    "AddReport",
    "Answer",
    "Answered",
    "AsyncRagstone",
    "Chunk",
    "Citation",
    "Document",
    "EvidenceFound",
    "Failed",
    "Hit",
    "KnowledgeBase",
    "Progress",
    "Ragstone",
    "RagstoneError",
    "Reader",
    "SentenceClosed",
    "Settings",
    "TextWritten",
]

_HOMES = {
    "AddReport": "core.reports",
    "Answer": "core.answers",
    "Answered": "core.answers",
    "AsyncRagstone": "serve.library",
    "Chunk": "core.records",
    "Citation": "core.answers",
    "Document": "core.records",
    "EvidenceFound": "core.answers",
    "Failed": "core.answers",
    "Hit": "core.records",
    "KnowledgeBase": "engine.knowledge_base",
    "Progress": "core.reports",
    "Ragstone": "serve.blocking",
    "RagstoneError": "core.errors",
    "Reader": "core.access",
    "SentenceClosed": "core.answers",
    "Settings": "settings",
    "TextWritten": "core.answers",
}

__getattr__ = lazily(__name__, _HOMES)
