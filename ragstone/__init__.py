"""Ragstone answers questions from your own documents and shows the exact words each answer rests on.

>>> from ragstone import Ragstone
>>> kb = Ragstone("kb")
>>> kb.add("docs/")
>>> print(kb.ask("How do I start?"))
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ragstone.core.access import Reader
    from ragstone.core.answers import Answer, Citation
    from ragstone.core.errors import RagstoneError
    from ragstone.core.records import Chunk, Document, Hit
    from ragstone.engine.knowledge_base import KnowledgeBase
    from ragstone.serve.notebook import Ragstone
    from ragstone.settings import Settings

__version__ = "0.1.0"
__all__ = [
    "Answer",
    "Chunk",
    "Citation",
    "Document",
    "Hit",
    "KnowledgeBase",
    "Ragstone",
    "RagstoneError",
    "Reader",
    "Settings",
]

_HOMES = {
    "Answer": "core.answers",
    "Chunk": "core.records",
    "Citation": "core.answers",
    "Document": "core.records",
    "KnowledgeBase": "engine.knowledge_base",
    "Hit": "core.records",
    "Ragstone": "serve.notebook",
    "RagstoneError": "core.errors",
    "Reader": "core.access",
    "Settings": "settings",
}


def __getattr__(name: str) -> object:
    """Import a public name when it is first used, so that ``import ragstone`` stays light."""
    from importlib import import_module

    if name not in _HOMES:
        raise AttributeError(f"module 'ragstone' has no attribute {name!r}")
    return getattr(import_module(f"ragstone.{_HOMES[name]}"), name)
