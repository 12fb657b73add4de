"""An answer as a report with a table of its sources: Markdown, HTML to print, or a Word file."""

from __future__ import annotations

import html
import re
from pathlib import Path
from typing import TYPE_CHECKING

from ragstone.core.answers import Answer, Citation
from ragstone.core.errors import UsageError
from ragstone.core.printable import one_line
from ragstone.serve.as_docx import docx_of

if TYPE_CHECKING:
    from markdown_it import MarkdownIt

SUFFIXES = (".md", ".html", ".docx")
_SPECIAL = re.compile(r"([\\|<>*_`~&\[\]])")
_STYLE = """
body { max-width: 46rem; margin: 2rem auto; padding: 0 1rem; font: 1rem/1.5 Georgia, serif; color: #1d1d1b; }
h1, h2, th { font-family: system-ui, sans-serif; }
table { border-collapse: collapse; font-size: .875rem; }
th, td { border: 1px solid #bbb; padding: .25rem .5rem; text-align: left; vertical-align: top; }
tr { break-inside: avoid; }
"""


def refuse_unwritable(path: Path) -> None:
    """Refuse a file of another format, or whose folder does not exist.

    Raises:
        UsageError: it says which.
    """
    if path.suffix.lower() not in SUFFIXES:
        raise UsageError(f"--report {path}: name a file that ends in .md, .html or .docx")
    if not path.parent.is_dir():
        raise UsageError(f"--report {path}: there is no folder {path.parent}")


def write_report(path: Path, answer: Answer) -> None:
    """Write an answer as a report, in the format of the suffix."""
    match path.suffix.lower():
        case ".docx":
            path.write_bytes(docx_of(_markdown_it().parse(markdown_of(answer))))
        case ".html":
            path.write_text(html_of(answer), encoding="utf-8")
        case _:
            path.write_text(markdown_of(answer), encoding="utf-8")


def markdown_of(answer: Answer) -> str:
    """Return the question, the answer with its sections, its sources and what was noted, as Markdown."""
    parts = [f"# {_plain(answer.question)}", _closed(answer.answer)]
    if answer.citations:
        head = "| no. | document | place | words |\n|---|---|---|---|"
        parts.append("\n".join(["## Sources\n", head, *map(_row, answer.citations)]))
    if notes := (*answer.notices, *answer.flags):
        parts.append("\n".join(["## Notes\n", *(f"- {_plain(one)}" for one in notes)]))
    day = answer.timestamp[:10]
    parts.append(f"{day}. Confidence {answer.confidence:.2f}. The words of each source are quoted exactly.")
    return "\n\n".join(parts) + "\n"


def html_of(answer: Answer) -> str:
    """Return a report as a page of its own, ready to print, without scripts, pictures or links."""
    body = _markdown_it().render(markdown_of(answer))
    title = html.escape(one_line(answer.question))
    return (
        f'<!DOCTYPE html>\n<html><head><meta charset="utf-8">'
        f"<title>{title}</title><style>{_STYLE}</style></head>\n<body>\n{body}</body></html>\n"
    )


def _markdown_it() -> MarkdownIt:
    """Return a parser that makes no links, pictures or HTML."""
    from markdown_it import MarkdownIt

    return MarkdownIt("commonmark", {"html": False}).enable("table").disable(["link", "image", "autolink"])


def _closed(text: str) -> str:
    """Return Markdown with a code block closed that it leaves open, so that nothing below it becomes code."""
    fences = [line.strip() for line in text.split("\n") if line.strip().startswith("```")]
    return f"{text}\n```" if len(fences) % 2 else text


def _row(one: Citation) -> str:
    page = f"p. {one.page}" if one.page else ""
    place = ", ".join(filter(None, (one.section, page, one.where, one.origin)))
    return f"| {one.marker} | {_plain(one.title or one.document_id)} | {_plain(place)} | {_plain(one.quote)} |"


def _plain(text: str) -> str:
    """Return a text on one line, without anything that Markdown would read as markup."""
    return _SPECIAL.sub(r"\\\1", one_line(text))
