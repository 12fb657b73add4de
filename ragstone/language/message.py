"""The words around a question: the ends of a mail, wishes about the answer, and what describes the asker."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

from ragstone.language.files import languages, table
from ragstone.language.money import SIGN
from ragstone.language.words import any_of


@dataclass(frozen=True, eq=False)
class MessageWords:
    """Words and patterns of one language, for text in lower case without diacritics; ``en.yaml`` shows the entries.

    Each is prepared when it is first used, because most questions need those of one language.
    """

    own: Mapping[str, Any]

    @cached_property
    def greets(self) -> re.Pattern[str]:
        """A pattern of the beginning of a line of greeting."""
        return re.compile(rf"(?:{any_of(self.own['greets'])})\b")

    @cached_property
    def closes(self) -> re.Pattern[str]:
        """A pattern of the beginning of the end of a mail."""
        return re.compile(rf"(?:{any_of(self.own['closes'])})\b")

    @cached_property
    def wrote(self) -> re.Pattern[str]:
        """A pattern of the end of the line before a quoted mail."""
        return re.compile(rf"\b{self.own['wrote']}\b[^\n]*:$")

    @cached_property
    def wish(self) -> re.Pattern[str]:
        """A pattern of a sentence that only says how to answer.

        Its groups are ``language``, ``form``, ``length`` and ``sources``.
        """
        own, joins = self.own, any_of(self.own["joins"])
        wish = (
            rf"{own['in_language']}(?P<language>{any_of(self.names)})|(?P<sources>{own['sources']})"
            rf"|(?P<length>{own['length']})|(?P<form>{own['form']})"
        )
        again = re.sub(r"\?P<\w+>", "?:", wish)
        return re.compile(
            rf"{own['asks']}(?:{wish})(?:[\s,]+(?:(?:{joins})\s+)?(?:{again}))*(?:[\s,]+{own['polite']})*"
        )

    @cached_property
    def names(self) -> Mapping[str, str]:
        """The codes of languages by the words for them."""
        return {word: code for code, words in self.own["languages"].items() for word in words}

    @cached_property
    def about_answer(self) -> re.Pattern[str]:
        """A pattern of a question about the last answer."""
        return re.compile(self.own["about_answer"])

    @cached_property
    def join(self) -> re.Pattern[str]:
        """A pattern of what stands between two questions of one sentence."""
        joins, again = any_of(self.own["joins"]), any_of(self.own["again"])
        return re.compile(rf"(?:,\s*|;\s*|,?\s+)(?:{joins})\s+(?=(?:{again})\b)")

    @cached_property
    def joined(self) -> re.Pattern[str]:
        """A pattern of what begins a further question."""
        return re.compile(rf"(?:{any_of(self.own['joins'])})\s+")

    @cached_property
    def asker(self) -> re.Pattern[str]:
        """A pattern of words for the asker."""
        return re.compile(rf"(?<!\w)(?:{any_of(self.own['first_person'])})(?!\w)")

    @cached_property
    def threshold(self) -> re.Pattern[str]:
        """A pattern of words before a number that is compared."""
        return re.compile(rf"(?<!\w)(?:{any_of(self.own['thresholds'])})\s+(?:the\s+)?{SIGN}?\s?$")

    @cached_property
    def age(self) -> re.Pattern[str]:
        """A pattern of how old somebody is."""
        return re.compile(rf"\b(?:{self.own['ages']})\b")

    @cached_property
    def codes(self) -> frozenset[str]:
        """Words before a code."""
        return frozenset(self.own["codes"])

    @cached_property
    def means(self) -> frozenset[str]:
        """Words that ask for the meaning of a code."""
        return frozenset(self.own["means"])

    @property
    def measures(self) -> Mapping[str, Sequence[str]]:
        """The units that answer "how heavy"."""
        return self.own["measures"]

    @cached_property
    def links(self) -> frozenset[str]:
        """Prepositions."""
        return frozenset(self.own["links"])

    @cached_property
    def articles(self) -> frozenset[str]:
        """Articles."""
        return frozenset(self.own["articles"])

    @cached_property
    def contractions(self) -> Mapping[str, str]:
        """What words written as one stand for."""
        return dict(one.split(" / ") for one in self.own["contractions"])

    @cached_property
    def contracted(self) -> re.Pattern[str]:
        """A pattern of words written as one, in any case."""
        return re.compile(rf"\b(?:{any_of(self.contractions) or '(?!)'})\b", re.IGNORECASE)

    @cached_property
    def asking(self) -> frozenset[str]:
        """The words that begin a question, in lower case."""
        return frozenset(self.own["again"])


@cache
def writing() -> tuple[str, ...]:
    """Return the languages whose messages are read."""
    return tuple(language for language in languages() if "message" in table(language))


@cache
def message_words(language: str) -> MessageWords:
    """Return the words around questions of a language that has them."""
    return MessageWords(table(language)["message"])


def messages_in(language: str = "") -> list[MessageWords]:
    """Return the words around questions of a language; of all that have them if it has none, or is not given."""
    return [message_words(one) for one in ([language] if language in writing() else writing())]
