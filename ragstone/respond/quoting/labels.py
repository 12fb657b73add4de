"""What a quote is about, where its own words do not say it: the title of its document, or the heading above it.

"It has a battery that can be replaced." is shown as "Fairphone 5: It has a battery that can be replaced."
"""

from __future__ import annotations

from collections.abc import Sequence

from ragstone.core.question import Question
from ragstone.language.facts import Vocabulary, Word, words
from ragstone.respond.quoting.quotes import Quote, is_question
from ragstone.respond.quoting.references import language_at_start, refers_back


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
    said = words(quote.text)
    heading = str(chunk.facts.get("section", "")).rpartition(" > ")[2]
    names = [name for name in (chunk.title, heading) if name and not is_question(name)]
    for name in names:
        subject = _among(asked, words(name))
        if subject and not _among(subject, said):
            return name
    if names and refers_back(quote.text, said, language_at_start(chunk.text)):
        title = [word for word in words(names[0]) if not word.stop]
        return "" if _among(title, said) else names[0]
    return ""


def _among(some: Sequence[Word], others: Sequence[Word]) -> list[Word]:
    """Return the words that occur among others in any form."""
    vocabulary = Vocabulary(others)
    return [word for word in some if vocabulary.forms(word)]
