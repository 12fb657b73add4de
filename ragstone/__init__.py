"""Ragstone answers questions from your own documents and shows the exact words each answer rests on.

>>> from ragstone import Ragstone
>>> kb = Ragstone("kb")
>>> kb.add("docs/")
>>> print(kb.ask("How do I start?"))
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ragstone.access import Reader
    from ragstone.answers import Answer, Citation
    from ragstone.contracts import Chunk, Document, Hit
    from ragstone.engine import Engine
    from ragstone.errors import RagstoneError
    from ragstone.sections import Settings
    from ragstone.serve.notebook import Ragstone

__version__ = "0.1.0"
__all__ = [
    "Answer",
    "Chunk",
    "Citation",
    "Document",
    "Engine",
    "Hit",
    "Ragstone",
    "RagstoneError",
    "Reader",
    "Settings",
]

_HOMES = {
    "Answer": "answers",
    "Chunk": "contracts",
    "Citation": "answers",
    "Document": "contracts",
    "Engine": "engine",
    "Hit": "contracts",
    "Ragstone": "serve.notebook",
    "RagstoneError": "errors",
    "Reader": "access",
    "Settings": "sections",
}


def __getattr__(name: str) -> object:
    """Import a public name when it is first used, so that ``import ragstone`` stays light."""
    from importlib import import_module

    if name not in _HOMES:
        raise AttributeError(f"module 'ragstone' has no attribute {name!r}")
    return getattr(import_module(f"ragstone.{_HOMES[name]}"), name)
