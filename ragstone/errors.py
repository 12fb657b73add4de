"""Every error Ragstone raises on purpose, as one tree.

    RagstoneError
    ├── UsageError             what was asked cannot be done as asked (exit code 2)
    │   ├── SettingsError      a setting is unknown, malformed or contradicts another
    │   └── TooOften           somebody does something more often than is allowed
    ├── MissingExtra           an optional package is not installed; names the extra
    ├── SourceError            a source could not be read
    ├── EmbeddingError         an embedding service cannot be reached, refuses or fails
    ├── KnowledgeBaseError     the knowledge base on disk
    │   ├── NotFound           no such knowledge base, document or response
    │   ├── Locked             another process is indexing; names it
    │   ├── Outrun             another process changed the same at the same time; try again
    │   ├── SettingsMismatch   built with other settings; names the command that rebuilds
    │   └── Damaged            a stored file is not what was written
    └── QueryError             answering a question
        ├── RetrievalError     no leg of the search could be run
        ├── OutOfTime          a step would not end in time; it is left out, and the answer says so
        └── ResponseError      the answer could not be generated
            └── ModelError     a language model cannot be reached, refuses or fails

A message says what is wrong, where, and what to do. Errors of other libraries
are translated where they are called, always with ``raise ... from``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


class RagstoneError(Exception):
    """Base of all errors below; its text is fit to be shown to a user."""


class UsageError(RagstoneError):
    """What was asked cannot be done as asked: an option, a filter, a question."""


class SettingsError(UsageError):
    """A setting is unknown, malformed, or contradicts another."""


class TooOften(UsageError):
    """Somebody does something more often than is allowed; after ``retry_after`` seconds it may be done again."""

    def __init__(self, message: str, retry_after: float) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class MissingExtra(RagstoneError):
    """An optional package is needed. ``MissingExtra("qdrant-client", extra="qdrant")``."""

    def __init__(self, package: str, *, extra: str) -> None:
        super().__init__(f"{package} is not installed; run: pip install 'ragstone[{extra}]'")


class SourceError(RagstoneError):
    """A source could not be read at all; nothing of it was stored."""


class EmbeddingError(RagstoneError):
    """An embedding service cannot be reached, refuses, or fails; names it, and says what to do."""


class EngineError(RagstoneError):
    """An engine that holds an index outside cannot be reached, refuses, fails, or is too far behind; names it."""


class Behind(EngineError):
    """An engine answers, but lacks so many ``changes`` that it cannot be asked before it has caught up."""

    def __init__(self, engine: str, changes: int) -> None:
        super().__init__(f"{engine} does not know {changes:,} changes yet; bring it up: ragstone doctor --mend")
        self.changes = changes


class KnowledgeBaseError(RagstoneError):
    """Something about the knowledge base on disk."""


class NotFound(KnowledgeBaseError):
    """There is no such knowledge base, document or response."""


class Locked(KnowledgeBaseError):
    """Another process, the ``holder``, is indexing the knowledge base in ``folder``."""

    def __init__(self, folder: Path, holder: str, doing: str = "indexed") -> None:
        super().__init__(f"{folder} is being {doing} by {holder}; try again when that is done, or wait with --wait")
        self.folder, self.holder = folder, holder


class Outrun(KnowledgeBaseError):
    """Another process changed the same at the same time, or has taken over the work; nothing of this was stored."""


class SettingsMismatch(KnowledgeBaseError):
    """The knowledge base was built with other settings than those asked for."""


class Damaged(KnowledgeBaseError):
    """A stored file, or a packaged model, is not what was written."""


class QueryError(RagstoneError):
    """A question could not be answered."""


class RetrievalError(QueryError):
    """No leg of the search could be run."""


class OutOfTime(QueryError):
    """A step would not end in the time there is."""


class ResponseError(QueryError):
    """The answer could not be generated."""


class ModelError(ResponseError):
    """A language model cannot be reached, refuses, or fails; names it, and says what to do."""
