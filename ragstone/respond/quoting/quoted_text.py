"""The text of an answer made of quotes: each with its marker, and named if it does not say what it is about.

"It has a battery that can be replaced." is shown as "Fairphone 5: It has a battery that can be replaced."
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from ragstone.core.answers import Citation, Statement
from ragstone.core.headings import is_earlier_message, is_question
from ragstone.core.question import Question
from ragstone.core.record import record_of
from ragstone.language.facts import Vocabulary, Word, words
from ragstone.respond import passage_structure as structure
from ragstone.respond.drafts import unmarked
from ragstone.respond.links import strip_links, strip_links_from_code
from ragstone.respond.quote import Quote
from ragstone.respond.quoting.scored import language_at_start, refers_back

MAX_LABEL = 60
"""Characters of a title or heading before a quote."""


def written(
    citations: Sequence[Citation], labels: Sequence[str], code: Collection[int], *, apart: bool = False
) -> tuple[str, tuple[Statement, ...]]:
    """Join the quotes, without links, into the text of an answer; each is a statement supported by itself.

    Parts of one document that are not neighbours are joined by an ellipsis.

    Args:
        citations: the quotes.
        labels: what each quote is about, or an empty text.
        code: markers of the quotes that are code without a fence.
        apart: whether each quote begins a line.
    """
    text, statements = "", list[Statement]()
    for place, (citation, label) in enumerate(zip(citations, labels, strict=True)):
        is_code = citation.marker in code
        words = marked(citation.quote, citation.marker, is_code=is_code)
        own_line = apart or "\n" in words or "\n" in text or is_code
        if text:
            goes_on = not label and not own_line and citation.document_id == citations[place - 1].document_id
            text += "\n" if own_line else " … " if goes_on else " "
        text += f"{short_label(label)}: " if label else ""
        start = len(text)
        text += words
        statements.append(Statement(start=start, end=len(text), markers=(citation.marker,)))
    return text, tuple(statements)


def have_rows(quotes: Sequence[Quote]) -> bool:
    """Return whether quotes have rows of data files: joined on one line, two of them would read as one."""
    return any(record_of(one.hit.chunk) for one in quotes)


def short_label(label: str) -> str:
    """Return a title or a heading on one line, without links, and without what would be read as a marker."""
    label = " ".join(unmarked(strip_links(label)).split()).rstrip(" :")
    return label if len(label) <= MAX_LABEL else f"{label[:MAX_LABEL].rsplit(' ', 1)[0].rstrip(' ,;:')} …"


def marked(quote: str, marker: int, *, is_code: bool) -> str:
    """Return a quote as an answer shows it, with its marker behind it, or below it if it ends in code."""
    words = _readable(quote, is_code=is_code)
    return words + ("\n" if is_code or structure.ends_in_code(words) else " ") + f"[{marker}]"


def _readable(quote: str, *, is_code: bool) -> str:
    """Return a quote as an answer shows it: without links, and on one line unless it is a list or code."""
    if not is_code and not structure.has_lines(quote):
        return " ".join(strip_links(quote).split())
    words = strip_links_from_code(strip_links(quote))
    if not is_code:
        return structure.unwrapped(words)
    return "\n".join(line.rstrip() for line in words.splitlines() if line.strip())


def labels_of(question: Question, quotes: Sequence[Quote]) -> list[str]:
    """Return what each quote is about, or an empty text if it says so itself or another of its document was named."""
    asked = [word for word in question.words if not word.stop]
    labels, named = list[str](), set[str]()
    for quote in quotes:
        document = quote.hit.chunk.document_id
        label = "" if document in named or quote.is_code else _label(asked, quote)
        named.add(document)
        labels.append(label)
    return labels


def _label(asked: Sequence[Word], quote: Quote) -> str:
    chunk = quote.hit.chunk
    if is_earlier_message(chunk):
        return chunk.heading  # Who wrote it and when, because the message that quotes it may say otherwise.
    quoted = words(quote.text)
    names = [name for name in (chunk.title, chunk.heading) if name and not is_question(name)]
    for name in names:
        subject = _among(asked, words(name))
        if subject and not _among(subject, quoted):
            return name
    if names and refers_back(quote.text, quoted, language_at_start(chunk.text)):
        title = [word for word in words(names[0]) if not word.stop]
        return "" if _among(title, quoted) else names[0]
    return ""


def _among(some: Sequence[Word], others: Sequence[Word]) -> list[Word]:
    """Return the words that occur among others in any form."""
    vocabulary = Vocabulary(others)
    return [word for word in some if vocabulary.forms(word)]
