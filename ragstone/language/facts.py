"""Extract the hard facts of a text: its words, numbers, dates, names and negations, each with its position.

Rules and word lists are used, no model. The lists of all languages apply at once, because an answer and its evidence
may be in different languages.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache

from ragstone.core.records import Span
from ragstone.core.words import Word
from ragstone.language import Words, lexicon, plain
from ragstone.language.numbers import normalised

_TOKEN = re.compile(
    r"""
      (?P<iso>\d{4}-\d{2}-\d{2}) | (?P<dotted>\d{1,2}[./]\d{1,2}[./]\d{4})                # 2020-03-12, 12.3.2020
    | (?P<number>\d+(?:[.,\u00a0\u202f]\d+)*)(?P<unit>[ ]?%|°|[^\W\d_]*)                   # 1,000  25%  19th  4kg
    | (?P<word>[^\W\d_]+(?:['’][^\W\d_]+)*)
    """,
    re.VERBOSE,
)
KEPT, LONGEST_KEPT = 512, 2000
"""Texts whose words are kept, and the characters of the longest; about 5 kB for a sentence and 50 kB for a passage."""
_ACRONYM = 5
STEM = 4
"""Two forms of a word share their first letters: at least this many, and a share of the longer form."""
_ENDING, _TOPIC_ENDING, _NAMED_ENDING = 0.6, 0.7, 0.75
"""That share for words of a sentence, of a topic and of a name."""


def words(text: str) -> list[Word]:
    """Return the words of a sentence, in order. Those of the latest texts are kept, which several parts read."""
    return list(_kept(text) if len(text) <= LONGEST_KEPT else _read(text))


@lru_cache(maxsize=KEPT)
def _kept(text: str) -> tuple[Word, ...]:
    return _read(text)


def _read(text: str) -> tuple[Word, ...]:
    lists, out, first = lexicon(), list[Word](), True
    for match in _TOKEN.finditer(text):
        span, shown = Span(start=match.start(), end=match.end()), match.group()
        if match["iso"] or match["dotted"]:
            out += _date(shown, span)
        elif match["number"]:
            unit = match["unit"].strip().lower()
            out.append(Word(span=span, lower=shown.lower(), value=normalised(match["number"]), unit=lists.unit(unit)))
        else:
            out.append(_word(lists, text, span, shown, first=first))
            first = first and not out[-1].lower.isalpha()
    months = lists.months
    return tuple(
        _in_context(lists, word, before, after) if word.value or word.lower in months else word
        for word, before, after in zip(out, [None, *out], [*out[1:], None], strict=False)
    )


def alike(first: str, second: str, *, name: bool = False) -> bool:
    """Return whether two lower-case words are forms of one, because most of their letters from the start are equal.

    A ``name`` must share more, because names have few endings and different names have much in common.
    """
    return _begin_alike(first, second, _NAMED_ENDING if name else _ENDING)


def alike_in_topic(first: str, second: str) -> bool:
    """Return whether two lower-case words are forms of one, as strictly as topics and headings need it."""
    return _begin_alike(first, second, _TOPIC_ENDING)


def beginning_in_topic(word: str) -> str:
    """Return the first letters of a word, with which all forms that `alike_in_topic` finds begin."""
    return word[: max(STEM, round(_TOPIC_ENDING * len(word)))]


def _begin_alike(first: str, second: str, share: float) -> bool:
    if first == second:
        return True
    shorter, longer = sorted((len(first), len(second)))
    least = max(STEM, round(share * longer))
    return shorter >= least and first[:least] == second[:least]


def lexical(word: Word, others: Sequence[Word]) -> bool:
    """Return whether a word, or another form of it, is among others; numbers are compared by value."""
    if word.value:
        return any(word.value == other.value for other in others)
    return any(alike(word.lower, other.lower, name=word.named) for other in others if not other.value) or initials(
        word, others
    )


def form(word: Word) -> str:
    """Return the lookup key of a word: the value of a number, the letters of any other word."""
    return f"={word.value}" if word.value else word.lower


def is_form(key: str, word: Word) -> bool:
    """Return whether a lookup key is that of a word or of another form of it."""
    own = form(word)
    return own == key if word.value else alike(own, key, name=word.named)


class Vocabulary:
    """The distinct words of many texts, indexed by their first letters."""

    def __init__(self, words: Iterable[Word]) -> None:
        self._begin: dict[str, set[str]] = {}
        self._forms: dict[tuple[str, bool], frozenset[str]] = {}
        for one in {form(word) for word in words}:
            self._begin.setdefault(one[:STEM], set()).add(one)

    def forms(self, word: Word) -> frozenset[str]:
        """Return the forms of a word that occur."""
        own = form(word)
        found = self._forms.get((own, word.named))
        if found is None:
            found = frozenset(key for key in self._begin.get(own[:STEM], ()) if is_form(key, word))
            self._forms[own, word.named] = found
        return found


def initials(word: Word, others: Sequence[Word]) -> bool:
    """Return whether an acronym consists of the initials of consecutive names, as UN of United Nations."""
    if not word.capitals or not 2 <= len(word.lower) <= _ACRONYM or word.value:
        return False
    return word.lower in "".join(other.lower[:1] if other.named else " " for other in others)


def _word(lists: Words, text: str, span: Span, shown: str, *, first: bool) -> Word:
    base = shown.removesuffix("s").rstrip("'’")
    is_acronym = len(base) > 1 and base.isupper()  # PDF, PDFs, PDF's
    lower = plain(base if is_acronym else shown).replace("’", "'").removesuffix("'s")
    stop, named = lower in lists.stop, False
    if shown[0].isupper() and not stop:
        before = text[: span.start].rstrip()[-1:]
        begins = first or before in ".:!?“„\"'«`"
        named = not begins or shown[1:].lower() != shown[1:]
    return Word(
        span=span,
        lower=lower,
        value=lists.numbers.get(lower, ""),
        named=named,
        capitals=is_acronym or shown.isupper(),
        negation=lower in lists.negations or lower.endswith("n't"),
        stop=stop or len(lower) < 2,
    )


def _in_context(lists: Words, word: Word, before: Word | None, after: Word | None) -> Word:
    """Recognise a month by its name or a number next to it, and give a number the unit that follows it."""
    if not word.value and (month := lists.months.get(word.lower)):
        near_number = any(one is not None and one.value.isdigit() for one in (before, after))
        is_month = near_number or word.named or word.lower in lists.only_months or _is_after_link(lists, word, before)
        return Word(span=word.span, lower=word.lower, value=month) if is_month else word
    if word.value and not word.unit and after and (unit := lists.unit(after.lower)):
        return Word(span=word.span, lower=word.lower, value=word.value, unit=unit)
    return word


def _is_after_link(lists: Words, word: Word, before: Word | None) -> bool:
    """Return whether a name of a month stands where no other word of its spelling does: "in march", "the may meeting".

    After "the" stands no verb, but "the march" may be one of protest.
    """
    if before is None or word.lower not in lists.full_months:
        return False
    return before.lower in lists.links or (word.stop and before.lower in lists.articles)


def _date(shown: str, span: Span) -> list[Word]:
    parts = [str(int(part)) for part in re.split(r"\D", shown)]
    day, month, year = parts[::-1] if "-" in shown else parts
    return [Word(span=span, lower=shown, value=value) for value in (day, f"month {month}", year)]
