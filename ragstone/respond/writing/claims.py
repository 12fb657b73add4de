"""What a sentence of a written answer claims: something, nothing, yes or no, or that the documents do not say it.

What claims nothing needs no proof, so it must be narrow: a lead-in or a question has no words but those of the question
and words such as "following", a courtesy has only such words, a heading has no words but those of one passage, and a
line of a list of sources those of their titles. `absence` recognises the sentences that say that the documents do not
tell something. Any other sentence is proved.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cached_property
from typing import Literal

from ragstone.core.frozen import frozen
from ragstone.core.naming import name_of
from ragstone.core.question import Question
from ragstone.core.records import Hit
from ragstone.language import lexicon, plain
from ragstone.language.facts import Word, lexical, words
from ragstone.respond import markdown
from ragstone.respond.proof.figure import is_period, same
from ragstone.respond.proof.figures import figures
from ragstone.respond.writing.absence import is_absence

Claim = Literal["fact", "nothing", "verdict", "absence"]
"""A fact to prove; nothing; yes or no alone; or that the documents do not say what the question asks."""
TITLED = 0.6
"""Share of the words of a title that a line of a list of sources repeats."""
COURTEOUS = 3
"""Words of courtesy in an offer of help, at least: "Please ask about parking at the desk" is none."""
LEAST_STATED, STATED = 3, 0.8
"""Words of a sentence, at least, and their share in a passage that denies the same."""
_BEGINNING = 40
"""Characters in which the first word of a sentence ends if it is yes or no."""
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+|\n+")


@frozen
class Verdict:
    """Yes or no at the beginning of a sentence, and the rest of it, which may be empty."""

    agrees: bool
    rest: str


class Claims:
    """Tells what the sentences of an answer to one question claim."""

    def __init__(self, question: Question, hits: Sequence[Hit]) -> None:
        self._text, self._question, self._hits = question.text, question.words, hits

    def of(self, sentence: str, claimed: Sequence[int] = ()) -> Claim:
        """Return what a sentence claims.

        Args:
            sentence: without citation marks.
            claimed: the sources that the writer names for it.
        """
        if markdown.is_rule(sentence):
            return "nothing"
        text = markdown.bare(sentence)
        content = _content(text)
        if (found := verdict(text)) and not found.rest:
            return "verdict"
        if self._is_absence(text, claimed):
            return "absence"
        if _denies(words(text)):
            return "fact"
        if claimed and _names_source(text):
            return "nothing"
        if not claimed and (all(map(_is_polite, content)) or _offers_help(text) or self._is_titled(content)):
            return "nothing"
        if text.endswith("?"):
            return "fact" if self._new(content) else "nothing"
        if text.endswith(":"):
            leads = any(map(_is_frame, content)) or len(content) <= 1
            return "nothing" if leads and not self._new(content) else "fact"
        if markdown.is_heading(sentence) and self._is_headed(self._new(content)):
            return "nothing"
        return "fact"

    def _is_absence(self, text: str, claimed: Sequence[int]) -> bool:
        """Return whether a sentence says only that the documents do not tell something.

        A question does so only if it asks for a document, without a name or number of its own. What stands behind a
        word such as "but" may say more.
        """
        asks = lexicon().absent["request"].search(plain(text)) is not None and not self._adds(text)
        if text.endswith(":") or (text.endswith("?") and not asks):
            return False
        if not is_absence(text, self._question, cited=bool(claimed)) or self._is_stated(text):
            return False
        said = words(text)
        turn = next((word for word in said if word.lower in lexicon().contrasts), None)
        if turn is None:
            return True
        rest = text[turn.span.end :]
        return not self._adds(rest) or is_absence(rest, self._question, cited=bool(claimed))

    def _adds(self, text: str) -> bool:
        """Return whether a text has a name or number that the question does not have."""
        return any(word.key and not lexical(word, self._question) for word in words(text))

    def _is_stated(self, text: str) -> bool:
        """Return whether a sentence of a passage denies the same, so that the documents do tell it."""
        own = [word for word in _content(text) if not _is_polite(word) and not _is_missing(word)]
        if len(own) < LEAST_STATED:
            return False
        return any(sum(lexical(word, said) for word in own) >= STATED * len(own) for said in self._denials)

    def leads_in(self, sentence: str) -> bool:
        """Return whether a sentence may introduce a list, so that not it but the list has to be proved.

        It may not if it denies something, or has a name or a figure that neither the question nor a passage has. How
        many items there are, it may say in a word.
        """
        text = markdown.bare(sentence)
        if not text.endswith(":") or verdict(text) or _denies(words(text)):
            return False
        known = [self._question, *self._passages]
        own = [word for word in words(text) if word.key and not (word.value and word.lower in lexicon().numbers)]
        return all(any(lexical(word, said) for said in known) for word in own)

    def is_head(self, row: str) -> bool:
        """Return whether the first row of a table only names its columns: it has no figure of its own but periods."""
        own = (one for one in figures(markdown.bare(row)) if not is_period(one) and one.unit != "code")
        asked = figures(self._text)
        return all(any(same(one, other) for other in asked) for one in own)

    def contradicts(self, verdict: Verdict, statement: str) -> bool:
        """Return whether a statement says the opposite of yes or no to the question.

        It does if it repeats most of the question, and denies it after yes or does not deny it after no.
        """
        stated = words(markdown.bare(statement))
        content = [word for word in self._question if not word.stop and not word.negation]
        repeated = sum(lexical(word, stated) for word in content)
        if not content or 2 * repeated <= len(content):
            return False
        denied = _denies(stated) != _denies(self._question)
        return denied == verdict.agrees and (verdict.agrees or repeated == len(content))

    @cached_property
    def _passages(self) -> list[list[Word]]:
        return [words(f"{hit.chunk.headed}\n{hit.chunk.title}") for hit in self._hits]

    @cached_property
    def _denials(self) -> list[list[Word]]:
        """The sentences of the passages that deny something or call it unknown."""
        said = (words(one) for hit in self._hits for one in _SENTENCE_END.split(hit.chunk.text))
        return [one for one in said if _denies(one) or any(map(_is_missing, one))]

    @cached_property
    def _titles(self) -> list[list[Word]]:
        return [words(name_of(hit.chunk)) for hit in self._hits]

    @cached_property
    def _places(self) -> list[list[Word]]:
        """The words of the titles, with those of the sections."""
        return [words(f"{name_of(hit.chunk)}\n{hit.chunk.context}") for hit in self._hits]

    def _new(self, content: Sequence[Word]) -> list[Word]:
        """Return the words that the question does not have and that do more than introduce."""
        return [word for word in content if not lexical(word, self._question) and not _is_polite(word)]

    def _is_headed(self, own: Sequence[Word]) -> bool:
        return not own or any(all(lexical(word, passage) for word in own) for passage in self._passages)

    def _is_titled(self, content: Sequence[Word]) -> bool:
        """Return whether a line only names a source: it has most words of a title, and no others but of its section."""
        left = [word for word in content if not _is_polite(word)]
        return any(
            TITLED * len(_content_of(title)) <= len(left) and all(lexical(word, place) for word in left)
            for title, place in zip(self._titles, self._places, strict=True)
        )


def verdict(sentence: str) -> Verdict | None:
    """Return the yes or no with which a sentence begins; None if it begins otherwise."""
    text = markdown.bare(sentence)
    first = next(iter(words(text[:_BEGINNING])), None)
    if first is None or not (first.lower in lexicon().agrees or first.lower in lexicon().disagrees):
        return None
    end = text[first.span.end : first.span.end + 1]
    if text[: first.span.start].strip() or end not in ("", ".", ",", "!", ";", ":", "-", "–", "—"):
        return None
    rest = text[first.span.end :].strip(" .,!;:-–—")
    return Verdict(agrees=first.lower in lexicon().agrees, rest=rest)


def is_label_of_sources(sentence: str) -> bool:
    """Return whether a line is only the label of the list of sources below it: "Sources:", or the heading "Sources"."""
    return _is_of_sources(markdown.bare(sentence).rstrip(": "))


def _names_source(text: str) -> bool:
    """Return whether a sentence begins as in "Source: Employee handbook"."""
    label, found, _ = text.partition(":")
    return bool(found) and _is_of_sources(label)


def _is_of_sources(label: str) -> bool:
    return label.strip(" *_").casefold() in lexicon().layout["sources"]


def _offers_help(text: str) -> bool:
    """Return whether a sentence only offers help about something: "Let me know if you have questions about parking"."""
    low = plain(text)
    if len(low) != len(text) or any(map(str.isdigit, text)):
        return False
    offers = (words(text[: about.start()]) for about in lexicon().absent["about"].finditer(low))
    return any(
        sum(word.lower in lexicon().courtesies for word in offer) >= COURTEOUS
        and all(map(_is_polite, _content_of(offer)))
        for offer in offers
    )


def introduces(text: str) -> bool:
    """Return whether a text only introduces an answer, or is a courtesy."""
    return all(map(_is_polite, _content(text)))


def _content(text: str) -> list[Word]:
    return _content_of(words(text))


def _content_of(said: Sequence[Word]) -> list[Word]:
    return [word for word in said if not word.negation and (not word.stop or word.value)]


def _is_frame(word: Word) -> bool:
    return not word.value and lexicon().frame.fullmatch(word.lower) is not None


def _is_polite(word: Word) -> bool:
    """Return whether a word only introduces an answer, is a courtesy, or names the documents and what they do."""
    lists = lexicon()
    patterns = (lists.frame, lists.documents, lists.says)
    refers = word.lower in lists.courtesies or word.lower in lists.layout["see"]
    return not word.value and (refers or any(one.fullmatch(word.lower) for one in patterns))


def _is_missing(word: Word) -> bool:
    return lexicon().absent["missing"].fullmatch(word.lower) is not None


def _denies(said: Sequence[Word]) -> bool:
    lists = lexicon()
    return any(word.negation or word.lower in lists.denials for word in said)
