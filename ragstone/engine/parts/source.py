"""What the parts of a version are built from, besides settings."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import field
from pathlib import Path

from ragstone.catalog.location import Location
from ragstone.catalog.protocol import Catalog
from ragstone.core.frozen import frozen
from ragstone.core.protocols import Embedder
from ragstone.engine.lazy import Pool
from ragstone.settings import IndexSettings
from ragstone.settings.services import ServiceSettings

BuildEmbedder = Callable[[IndexSettings, ServiceSettings], Embedder]
"""Returns the embedder that the settings name."""


@frozen
class Source:
    """The inputs of a version that do not depend on the settings of a question.

    ``overrides`` are the settings of the caller that opened it. ``shared`` is the pool of the knowledge base, ``own``
    the pool of the version.
    """

    location: Location
    path: Path
    catalog: Catalog
    build_embedder: BuildEmbedder
    overrides: Sequence[str] = ()
    shared: Pool = field(default_factory=Pool)
    own: Pool = field(default_factory=Pool)
    catching_up: threading.Lock = field(default_factory=threading.Lock)
    """Held while a question fills an engine that is behind."""
