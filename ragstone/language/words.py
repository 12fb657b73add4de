"""The words that recognise what questions ask and what texts say, of one language or of all together."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from typing import Any

from ragstone.core.kinds import SearchKind
from ragstone.language.files import languages, table

_LETTER = r"[^\W_]"
_SHORT_MONTH, _LONG_MONTH = 4, 6
"""Letters of names of months that are hardly ever other words: of those with a capital, and of all."""


@dataclass(frozen=True, eq=False)
class Words:
    """The words of one language, or of several together. ``en.yaml`` explains the entries.

    Sets and the patterns of facts are in lower case without diacritics (see `plain`), and a ``*`` in their entries
    stands for any letters. The patterns of questions (from ``kinds`` to ``follows``) match lower-case text. Each entry
    is prepared when it is first used.
    """

    tables: Sequence[Mapping[str, Any]]

    # Facts

    @cached_property
    def negations(self) -> frozenset[str]:
        """Words that negate a sentence."""
        return self._set("negations")

    @cached_property
    def denials(self) -> frozenset[str]:
        """Words such as "lacks", which may negate a sentence."""
        return self._set("denials")

    @cached_property
    def opposites(self) -> Mapping[str, frozenset[str]]:
        """The words that contradict a word."""
        out: dict[str, set[str]] = {}
        for pair in self._entries("opposites"):
            one, other = (plain(word) for word in pair.split(" / "))
            out.setdefault(one, set()).add(other)
            out.setdefault(other, set()).add(one)
        return {word: frozenset(others) for word, others in out.items()}

    @cached_property
    def prefixes(self) -> tuple[str, ...]:
        """Prefixes that form the opposite of a word."""
        return tuple(sorted(self._set("prefixes")))

    @cached_property
    def numbers(self) -> Mapping[str, str]:
        """The values of number words."""
        return {plain(word): str(value) for word, value in self._pairs("numbers")}

    @cached_property
    def months(self) -> Mapping[str, str]:
        """The values of the names of months: "month 3" for "march"."""
        return {plain(name): f"month {number}" for name, number in self.month_names.items()}

    @cached_property
    def only_months(self) -> frozenset[str]:
        """Names of months that are hardly ever other words, however they are written: "june", but not "may" or "mar".

        They are long, or names of four letters that are usually written with a capital.
        """
        names = (
            name
            for name in self.month_names
            if len(name) >= _LONG_MONTH or (len(name) >= _SHORT_MONTH and name[0].isupper())
        )
        return frozenset(map(plain, names)) - self.month_like

    @cached_property
    def month_names(self) -> Mapping[str, int]:
        """The numbers of months by their names as they are written."""
        return {
            name: number for one in self.tables for number, names in enumerate(one["months"], start=1) for name in names
        }

    @cached_property
    def full_months(self) -> frozenset[str]:
        """The whole names of months, without short forms."""
        return frozenset(plain(names[0]) for one in self.tables for names in one["months"] if names)

    @cached_property
    def links(self) -> frozenset[str]:
        """Prepositions but "to", which also stands before verbs: "to march"."""
        return self._around("links") - {"to"}

    @cached_property
    def articles(self) -> frozenset[str]:
        """Words before nouns, as "the"."""
        return self._around("articles")

    @cached_property
    def first_person(self) -> frozenset[str]:
        """Words for whoever asks, as "my" and "myself"."""
        return self._around("first_person")

    def _around(self, name: str) -> frozenset[str]:
        return frozenset(plain(word) for one in self.tables for word in one.get("message", {}).get(name, ()))

    @cached_property
    def units(self) -> Mapping[str, str]:
        """The names of units by their spellings; those of money are the codes of `currencies`."""
        units = {plain(word): unit for unit, words in self._pairs("units") for word in words}
        return {word: code for word, code in self.currencies.items() if code != "cent"} | units

    @cached_property
    def currencies(self) -> Mapping[str, str]:
        """The codes of currencies by their names; that of hundredths is "cent"."""
        names = ((name, code) for code, names in self._pairs("currencies") for name in names)
        return {form: code for name, code in names for form in (name, plain(name))}

    @cached_property
    def ordinals(self) -> Mapping[str, str]:
        """The values of ordinal numbers by their beginnings."""
        return {plain(word): str(value) for word, value in self._pairs("ordinals")}

    @cached_property
    def scales(self) -> Mapping[str, float]:
        """The values of words such as "million", which multiply the number before them."""
        return {plain(word): float(value) for word, value in self._pairs("scales")}

    @cached_property
    def large(self) -> str:
        """A pattern of the words for a thousand and more, without what marks their ends."""
        return any_of(word for word, value in self._pairs("scales") if value >= 1000)

    @cached_property
    def quarters(self) -> tuple[str, ...]:
        """Beginnings of words for three months."""
        return tuple(sorted(self._set("quarters")))

    @cached_property
    def centuries(self) -> frozenset[str]:
        """Words for a hundred years."""
        return self._set("centuries")

    @cached_property
    def stop(self) -> frozenset[str]:
        """Words without content of their own."""
        return self._set("stop")

    @cached_property
    def parts(self) -> frozenset[str]:
        """Words whose number is a name, such as "section"."""
        return self._set("parts")

    @cached_property
    def endings(self) -> frozenset[str]:
        """Endings by which two forms of a name differ."""
        return self._set("endings")

    @cached_property
    def word_endings(self) -> frozenset[str]:
        """Endings by which a form of a word differs from the one in a word list."""
        return self._set("word_endings")

    @cached_property
    def word_beginnings(self) -> frozenset[str]:
        """Beginnings that make another word of one in a word list, such as those of German verbs."""
        return self._set("word_beginnings")

    @cached_property
    def general(self) -> frozenset[str]:
        """Words that look like names but name nothing in particular."""
        return self._set("general")

    @cached_property
    def agrees(self) -> frozenset[str]:
        """Words that are a positive answer on their own."""
        return self._set("agrees")

    @cached_property
    def disagrees(self) -> frozenset[str]:
        """Words that are a negative answer on their own."""
        return self._set("disagrees")

    @cached_property
    def about(self) -> frozenset[str]:
        """Words before a number that make it an estimate."""
        return self._set("about")

    @cached_property
    def bounds(self) -> frozenset[str]:
        """Words before a number that make it a bound."""
        return self._set("bounds")

    @cached_property
    def lasts(self) -> frozenset[str]:
        """Words before "a year" that make it a duration, not a rate."""
        return self._set("lasts")

    @cached_property
    def unsure(self) -> frozenset[str]:
        """Words that leave open what a negation denies."""
        return self._set("unsure")

    @cached_property
    def calculated(self) -> Mapping[str, re.Pattern[str]]:
        """Patterns of words that say that a figure was calculated, by the operation."""
        return self._patterns("calculated")

    @cached_property
    def documents(self) -> re.Pattern[str]:
        """A pattern of words for documents."""
        return _any(self._entries("documents"))

    @cached_property
    def says(self) -> re.Pattern[str]:
        """A pattern of words for what documents do."""
        return _any(self._entries("says"))

    @cached_property
    def frame(self) -> re.Pattern[str]:
        """A pattern of words that only introduce or arrange an answer."""
        return _any(self._entries("frame"))

    @cached_property
    def absent(self) -> Mapping[str, re.Pattern[str]]:
        """Patterns, by kind, of the words with which a writer says that the documents do not tell something."""
        return self._patterns("absent")

    @cached_property
    def courtesies(self) -> frozenset[str]:
        """Words that are only polite."""
        return self._set("courtesies")

    @cached_property
    def contrasts(self) -> frozenset[str]:
        """Words such as "but"."""
        return self._set("contrasts")

    @cached_property
    def openings(self) -> re.Pattern[str]:
        """A pattern of the beginnings of sentences that refer to the sentence before."""
        return _any(self._entries("openings"))

    @cached_property
    def pronouns(self) -> frozenset[str]:
        """Words that, early in a sentence, refer to the sentence before."""
        return self._set("pronouns")

    # Questions

    @cached_property
    def asks_number(self) -> re.Pattern[str]:
        """A pattern of questions that only a number can answer."""
        return _any(self._asks["number"])

    @cached_property
    def asks_name(self) -> re.Pattern[str]:
        """A pattern of questions that only a name can answer."""
        return _any(self._asks["name"])

    @cached_property
    def asks_money(self) -> re.Pattern[str]:
        """A pattern of questions for a price, a cost or pay."""
        return _any(self._asks["money"])

    @cached_property
    def question_words(self) -> frozenset[str]:
        """The single words of questions for a number or a name."""
        asked = (phrase for kind in ("number", "name") for phrase in self._asks[kind])
        return frozenset(plain(word) for phrase in asked for word in phrase.split())

    @cached_property
    def kinds(self) -> Sequence[tuple[SearchKind, re.Pattern[str]]]:
        """Patterns of the kinds of question, in the order in which they are tried."""
        kinds: dict[SearchKind, list[str]] = {}
        for kind, words in self._pairs("kinds"):
            kinds.setdefault(kind, []).extend(words)
        return tuple((kind, _asked(words)) for kind, words in kinds.items())

    @cached_property
    def code(self) -> re.Pattern[str]:
        """A pattern of questions about code."""
        return _asked(self._entries("code"))

    @cached_property
    def recent(self) -> re.Pattern[str]:
        """A pattern of questions about what is new."""
        return _asked(self._entries("recent"))

    @cached_property
    def beginner(self) -> re.Pattern[str]:
        """A pattern of questions of beginners."""
        return _asked(self._entries("beginner"))

    @cached_property
    def advanced(self) -> re.Pattern[str]:
        """A pattern of questions of experts."""
        return _asked(self._entries("advanced"))

    @cached_property
    def refers(self) -> re.Pattern[str]:
        """A pattern of words that refer to an earlier question."""
        return _asked(self._entries("refers"))

    @cached_property
    def follows(self) -> re.Pattern[str]:
        """A pattern of the beginnings of questions that follow another."""
        return _asked(self._entries("follows"))

    @cached_property
    def search_stop(self) -> frozenset[str]:
        """Words that are not searched for, in lower case."""
        return frozenset(self._entries("search_stop"))

    @cached_property
    def joins(self) -> tuple[str, ...]:
        """Words between two things that are asked about together."""
        return self._list("joins")

    @cached_property
    def between(self) -> tuple[str, ...]:
        """Words before two things that are compared."""
        return self._list("between")

    # Documents

    @cached_property
    def range(self) -> tuple[str, ...]:
        """Words between the ends of a range, and those that also join a list."""
        return (*self.until, *self.either)

    @cached_property
    def until(self) -> tuple[str, ...]:
        """Words between the ends of a range."""
        return self._list("until")

    @cached_property
    def either(self) -> tuple[str, ...]:
        """Words between the last two of a list."""
        return self._list("either")

    @cached_property
    def ones(self) -> frozenset[str]:
        """Words before a unit that are one: "a year"."""
        return self._set("ones")

    @cached_property
    def halves(self) -> frozenset[str]:
        """Words before a unit that are a half."""
        return self._set("halves")

    @cached_property
    def month_like(self) -> frozenset[str]:
        """Names of months that are also other words, such as "may"."""
        return self._set("month_like")

    @cached_property
    def topics(self) -> Mapping[str, Sequence[str]]:
        """Topics, and the words that mention them."""
        return self._merged("topics")

    @cached_property
    def companies(self) -> Mapping[str, Sequence[str]]:
        """Words around the names of companies, by their purpose."""
        return self._merged("companies")

    @cached_property
    def headings(self) -> Mapping[str, Mapping[str, Sequence[str]]]:
        """Words of headings that tell the purpose and the difficulty of a text, by table and class."""
        return {
            name: _merged(one["headings"][name] for one in self.tables if "headings" in one)
            for name in ("kinds", "difficulty")
        }

    @cached_property
    def abbreviations(self) -> Mapping[str, Sequence[str]]:
        """Abbreviations without their last stop, by when the sentence continues after them."""
        return self._merged("abbreviations")

    @cached_property
    def sentences(self) -> Mapping[str, Sequence[str]]:
        """Words that tell where sentences end, by their purpose."""
        return self._merged("sentences")

    @cached_property
    def places(self) -> Mapping[str, Sequence[str]]:
        """Names of countries and unions without diacritics, by their codes."""
        return self._merged("places")

    @cached_property
    def layout(self) -> Mapping[str, Sequence[str]]:
        """Words of captions, chapters and page numbers."""
        return self._merged("layout")

    @cached_property
    def marks(self) -> Mapping[str, Sequence[str]]:
        """Words around citation marks that are words of a sentence, by their place."""
        return self._merged("marks")

    @cached_property
    def columns(self) -> Mapping[str, Sequence[str]]:
        """Names of columns of data, by what they name."""
        return self._merged("columns")

    @cached_property
    def table_words(self) -> Mapping[str, Sequence[str]]:
        """Words of the labels, headings and units of tables."""
        return self._merged("tables")

    @cached_property
    def versions(self) -> Mapping[str, Sequence[str]]:
        """Words by which documents say which version they are."""
        return self._merged("versions")

    def unit(self, word: str) -> str:
        """Return the name of a unit, or an empty text."""
        return self.units.get(word, "")

    @property
    def _asks(self) -> Mapping[str, Sequence[str]]:
        return self._merged("asks")

    def _entries(self, name: str) -> Iterator[str]:
        for one in self.tables:
            yield from one.get(name, ())

    def _pairs(self, name: str) -> Iterator[tuple[Any, Any]]:
        for one in self.tables:
            yield from one.get(name, {}).items()

    def _list(self, name: str) -> tuple[str, ...]:
        return tuple(dict.fromkeys(self._entries(name)))

    def _set(self, name: str) -> frozenset[str]:
        return frozenset(map(plain, self._entries(name)))

    def _merged(self, name: str) -> dict[str, list[str]]:
        return _merged(one.get(name, {}) for one in self.tables)

    def _patterns(self, name: str) -> dict[str, re.Pattern[str]]:
        return {kind: _any(words) for kind, words in self._merged(name).items()}


@cache
def lexicon(language: str = "") -> Words:
    """Return the words of a language; of all languages together if it has none for questions."""
    known = (language,) if language in languages() and "kinds" in table(language) else languages()
    return Words([table(one) for one in known])


@cache
def written_in(language: str) -> Words:
    """Return the words of the texts of a language; of English if it has no file."""
    return Words([table(language if language in languages() else "en")])


@lru_cache(maxsize=50_000)
def plain(word: str) -> str:
    """Return the word in lower case without diacritics."""
    if word.isascii():
        return word.lower()
    return "".join(c for c in unicodedata.normalize("NFKD", word.lower()) if not unicodedata.combining(c))


def any_of(words: Iterable[str]) -> str:
    """Return a pattern of any of the words, the longest first; a ``*`` stands for any letters."""
    escaped = (re.escape(word).replace(r"\*", r"[^\W\d_]*") for word in dict.fromkeys(words))
    return "|".join(sorted(escaped, key=len, reverse=True))


def _merged(several: Iterable[Mapping[str, Sequence[str]]]) -> dict[str, list[str]]:
    merged: dict[str, list[str]] = {}
    for one in several:
        for name, words in one.items():
            merged.setdefault(name, []).extend(words)
    return merged


def _any(words: Iterable[str]) -> re.Pattern[str]:
    """Return a pattern of these words; a ``*`` stands for any letters."""
    return re.compile(rf"\b(?:{any_of(map(plain, words))})\b")


def _asked(words: Iterable[str]) -> re.Pattern[str]:
    """Return a pattern of words of questions; a leading ``^`` is the beginning, a trailing ``*`` any ending."""
    return re.compile("|".join(map(_asked_word, words)))


def _asked_word(word: str) -> str:
    begin = r"^\W*" if word.startswith("^") else rf"(?<!{_LETTER})"
    end = f"{_LETTER}*" if word.endswith("*") else ""
    return f"{begin}{re.escape(word.strip('^*'))}{end}(?!{_LETTER})"
