"""Errors as a user sees them: one line on standard error, and an exit code."""

from __future__ import annotations

from typing import Any

from ragstone.errors import RagstoneError, UsageError


def explain(error: Exception) -> tuple[str, int]:
    """The line and the code: 2 where something else should have been asked, else 1."""
    match error:
        case UsageError():
            return str(error), 2
        case RagstoneError():
            return str(error), 1
        case OSError(filename=None):
            return error.strerror or str(error), 1
        case OSError():
            return f"{error.filename}: {error.strerror}", 1
        case _ if hasattr(error, "format_message"):
            return _wrong_usage(error), 2
        case _:
            kind = type(error).__name__
            return f"unexpected {kind}: {error}; to see where it arose, put --debug before the command", 1


def tell(message: str) -> None:
    """Print the line."""
    from ragstone.serve.screen import write_error

    write_error(message)


def _wrong_usage(error: Any) -> str:
    # The parser's own errors; their class is typer's or click's, depending on typer's version.
    path = error.ctx.command_path if error.ctx else "ragstone"
    message = error.format_message().strip().rstrip(".")
    if "extra argument" in message and path.endswith((" ask", " search")):
        return f"{message}; put the question in quotes"
    return f"{message}; see: {path} --help"
