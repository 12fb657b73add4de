"""Every error that Ragstone raises on purpose, as one tree.

    RagstoneError
    ├── UsageError             the request cannot be carried out (exit code 2)
    │   ├── SettingsError      a setting is unknown, malformed or contradicts another
    │   └── RateLimited        a rate limit is exceeded
    ├── MissingExtra           an optional package is not installed; names the extra
    ├── SourceError            a source could not be read
    ├── EmbeddingError         an embedding service cannot be reached, refuses or fails
    ├── EngineError            an external search engine cannot be reached, refuses or fails
    │   └── EngineBehind       it lacks too many changes for a search
    ├── KnowledgeBaseError     the knowledge base on disk
    │   ├── NotFound           no such knowledge base, document or response
    │   ├── Locked             another process is indexing; names it
    │   ├── Conflict           another process changed the same documents, or took over the work
    │   ├── SettingsMismatch   built with other settings; names the command that rebuilds
    │   └── Damaged            a stored file is corrupt
    └── QueryError             answering a question
        ├── RetrievalError     no leg of the search could be run
        ├── OutOfTime          a step would take too long; it is skipped, and the answer says so
        └── ResponseError      the answer could not be generated
            └── ModelError     a language model cannot be reached, refuses or fails
                ├── ContextTooLong   the prompt is longer than its context window
                └── EmptyReply       it replied without a word

A message says what is wrong, where, and what to do. Code that calls another library translates its errors with ``raise
... from``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ragstone.core.installation import install_command, installer

if TYPE_CHECKING:
    from pathlib import Path

    from ragstone.core.answers import Reply


class RagstoneError(Exception):
    """Base class of all errors of Ragstone; the text is safe to show to a user.

    >>> from ragstone import Ragstone, RagstoneError
    >>> try:
    ...     Ragstone("kb", settings=["rank.top_k=many"]).add("docs/")
    ... except RagstoneError as error:
    ...     print(error)
    rank.top_k: Input should be a valid integer, unable to parse string as an integer
    """


class UsageError(RagstoneError):
    """An option, a filter or a question cannot be used as given."""


class SettingsError(UsageError):
    """A setting is unknown, malformed, or contradicts another."""


class RateLimited(UsageError):
    """A rate limit is exceeded; the request may be repeated after ``retry_after`` seconds."""

    def __init__(self, message: str, retry_after: float) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class MissingExtra(RagstoneError):
    """An optional package is not installed. ``MissingExtra("qdrant-client", extra="qdrant")``.

    Without an extra, the user has to install the package itself.
    """

    def __init__(self, package: str, *, extra: str) -> None:
        command = install_command(extra) if extra else f"{installer()} {package}"
        super().__init__(f"{package} is not installed; run: {command}")
        self.package = package


class SourceError(RagstoneError):
    """A source could not be read at all; nothing of it was stored."""


class EmbeddingError(RagstoneError):
    """An embedding service cannot be reached, refuses, or fails; the text names it and says what to do."""


class EngineError(RagstoneError):
    """An external search engine cannot be reached, refuses, or fails; the text names it."""


class EngineBehind(EngineError):
    """An engine lacks too many ``changes``; it must catch up before a search."""

    def __init__(self, engine: str, changes: int) -> None:
        behind = "1 change" if changes == 1 else f"{changes:,} changes"
        super().__init__(f"{engine} is {behind} behind; to bring it up to date, run: ragstone doctor --mend")
        self.changes = changes


class KnowledgeBaseError(RagstoneError):
    """The knowledge base on disk cannot be read or written."""


class NotFound(KnowledgeBaseError):
    """There is no such knowledge base, document or response."""


class Locked(KnowledgeBaseError):
    """Another process, the ``holder``, is indexing the knowledge base in ``folder``."""

    def __init__(self, folder: Path, holder: str, doing: str = "indexed") -> None:
        super().__init__(f"{folder} is being {doing} by {holder}; try again when that is done, or wait with --wait")
        self.folder, self.holder = folder, holder


class Conflict(KnowledgeBaseError):
    """Another process changed the same documents, or took over the work; nothing of this commit was stored."""


class SettingsMismatch(KnowledgeBaseError):
    """The knowledge base was built with other settings than the requested ones."""


class Damaged(KnowledgeBaseError):
    """A stored file or a packaged model is corrupt."""


class QueryError(RagstoneError):
    """A question could not be answered."""


class RetrievalError(QueryError):
    """No leg of the search could be run."""


class OutOfTime(QueryError):
    """A step would exceed its time limit."""


class ResponseError(QueryError):
    """The answer could not be generated."""


class ModelError(ResponseError):
    """A language model cannot be reached, refuses, or fails; the text names it and says what to do."""


class ContextTooLong(ModelError):
    """The prompt is longer than the model's window; a shorter one may be sent.

    ``limit`` is the window in tokens as the server states it, or None.
    """

    def __init__(self, message: str, limit: int | None = None) -> None:
        super().__init__(message)
        self.limit = limit


class EmptyReply(ModelError):
    """A language model replied without a word; ``reply`` has the tokens that this cost, and its reasoning."""

    def __init__(self, message: str, reply: Reply) -> None:
        super().__init__(message)
        self.reply = reply
