"""What a question asks of a table: its words, periods, and the kind of value that answers."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache

from ragstone.core.frozen import frozen
from ragstone.core.protocols import Weigher
from ragstone.core.question import MAX_QUESTION, Question
from ragstone.core.request import Request
from ragstone.core.span import Span
from ragstone.language import plain
from ragstone.language.contacts import is_of_contact
from ragstone.language.facts import STEM, Vocabulary, Word, form, words
from ragstone.language.files import measures
from ragstone.language.money import names_money
from ragstone.language.talk import amount_columns, amount_verbs
from ragstone.respond.tables.dates import Dates
from ragstone.respond.tables.ranges import Point, points_of

_WORD = re.compile(r"[^\W_]+")
_SHORT = 3
"""Letters of a word that has no plural."""
_RANKED = r" (?:did|does) .*\b(?:take|finish|get|come|end|rank|achieve|win)\b"
"""What one does with a place that is a number, as in a race."""
_WHERE = re.compile(rf"\bwhere\b|\b(?:what|which) (?:city|venue|location|stadium|country|place(?!{_RANKED}))\b")
_WHO = re.compile(r"\bwho(?:se|m)?\b")
_WHEN = re.compile(r"\bwhen\b|\b(?:what|which) (?:year|date|day|season|month)\b")
_WHEN_ALONE = re.compile(
    r"^\W*(?:(?:and|since|until|till|by|from|for|und|bis|seit|ab|nuo|iki|o|ir|sejak|vanaf|tot|da|do|od) )?"
    r"(?:when|wann|kada|bila(?:kah)?|wanneer|quando|kiedy|nar)\b"
)
"""The beginning of a question that only a time answers, without diacritics."""
_HOW_HIGH = re.compile(r"(?<=\bhow )(?:high|large|big|great|low|small)\b", re.IGNORECASE)
"""Words that ask how much, and name nothing."""
_HOW_LONG = re.compile(
    r"\bhow (?:(?P<long>long)|(?P<high>high|tall)|(?P<deep>deep)|(?P<far>far)|(?P<fast>fast|quick\w*)|(?P<old>old)"
    r"|(?P<heavy>heavy)|(?P<wide>wide)|(?P<large>large|big))\b"
)
_QUALITIES = {
    "long": re.compile(r"\b(?:time|duration|length|long|runtime|minutes?|hours?|days?|term|tenure)\b"),
    "high": re.compile(r"\b(?:height|elevation|altitude|high)\b"),
    "deep": re.compile(r"\b(?:depth|deep)\b"),
    "far": re.compile(r"\b(?:distance|km|miles?|length)\b"),
    "fast": re.compile(r"\b(?:speed|time|kph|mph)\b|\bkm/h\b"),
    "old": re.compile(r"\bage\b"),
    "heavy": re.compile(r"\b(?:weight|mass)\b"),
    "wide": re.compile(r"\bwidth\b"),
    "large": re.compile(r"\b(?:size|area|population|capacity)\b"),
}
"""The headings of columns that say how long, high or old something is."""
_INSTANT = re.compile(r"\b(?:on|at|as of|as at|am|zum|per)\s+(?:the end of\s+)?(?:[a-z]+\.? )?\d{1,2}\b")
_HOW_MANY = re.compile(
    r"\bhow many\b|\bnumber of\b|\b(?:wie ?viele?|kiek)\b(?! kost| kain| teurer| billiger| mehr| hoher)"
    r"|\bberapa (?:banyak|ramai|orang|buah)\b"
)
_HOW_MUCH = re.compile(
    r"\b(?:how much|wie ?viel|hoeveel|hur mycket|quanto|ile)"
    r"(?:\W*$|[ ,]+(?:is|are|was|were|for|do|does|did|will|would|and|must|ist|sind|war|muss|fur|voor|for|per|jest)\b)"
)
"""How much something is, without a word for what is counted: an amount of money, unless a measure is named."""
_AMOUNT = re.compile(
    r"\bhow (?:much|high|large)\b|\bwhat (?:was|were|is|are)\b"
    r"|\bhow did\b.*\b(?:change|develop|grow|increase|decrease)\b"
)
_WHY = re.compile(r"\b(?:why|driver|drivers|reason|reasons|cause|causes|factor|factors|impact|effect)\b")
_CAUSE = re.compile(
    r"\bwhy\b|\bwhat (?:caused?|drove|drives|led to|leads to|explains?)\b|\b(?:cause|reason)s? (?:of|for)\b"
)
_ASKED = re.compile(r"\b(?:which|what|whose|how many|name (?:a|an|one|the))\b")


WEAK = 0.3
"""Factor of the weight of words that alone name nothing, such as "total"."""


@frozen
class Terms:
    """Words for one thing, and what the words of a question say about the kind of answer.

    The first concepts are ``measures``, such as revenue.
    """

    concepts: Mapping[tuple[str, ...], int]
    measures: int
    longest: int
    frame: frozenset[str]
    calculation: frozenset[str]
    weak: frozenset[str]
    calculates: re.Pattern[str]
    orders: re.Pattern[str]
    changes: re.Pattern[str]
    percents: re.Pattern[str]
    recent: re.Pattern[str]
    total: re.Pattern[str]
    every_year: re.Pattern[str]


@cache
def terms() -> Terms:
    """Return the terms of ``language/measures.yaml``."""
    data = measures()
    every = [*data["measures"], *data["concepts"]]
    concepts = {_key(phrase): n for n, some in enumerate(every) for phrase in some}
    return Terms(
        concepts=concepts,
        measures=len(data["measures"]),
        longest=max(map(len, concepts)),
        frame=frozenset(data["frame"]),
        calculation=frozenset(data["calculation"]),
        weak=frozenset(data["weak"]),
        calculates=re.compile(data["calculates"]),
        orders=re.compile(data["orders"]),
        changes=re.compile(data["changes"]),
        percents=re.compile(data["percents"]),
        recent=re.compile(data["recent"]),
        total=re.compile(data["total"]),
        every_year=re.compile(data["every_year"]),
    )


@dataclass(frozen=True, slots=True)
class Item:
    """A thing that a text names: a word, or words of a concept, which has a number from 0."""

    words: tuple[Word, ...]
    concept: int = -1


class Named:
    """The things that a text names, for looking up those of a question."""

    def __init__(self, text: str) -> None:
        self.items = items(text)
        self._concepts = {item.concept for item in self.items if item.concept >= 0}
        self._begins = {form(word)[:STEM] for item in self.items for word in item.words}

    @cached_property
    def _words(self) -> Vocabulary:
        return Vocabulary(word for item in self.items for word in item.words)

    @cached_property
    def _free(self) -> Vocabulary:
        """The words that are no part of a phrase that names something else, as "income" in "net income" is."""
        return Vocabulary(item.words[0] for item in self.items if len(item.words) == 1)

    def has(self, item: Item) -> bool:
        """Return whether the text names a thing, in any form or by a synonym."""
        return item.concept in self._concepts or all(map(self._free.forms, item.words))

    def may_have_of(self, other: Named) -> bool:
        """Return whether the text may have a thing that another one names: it has a word that begins alike."""
        return not (self._begins.isdisjoint(other._begins) and self._concepts.isdisjoint(other._concepts))

    def has_any(self, names: frozenset[str]) -> bool:
        """Return whether the text has one of some words as it is written there."""
        return any(word.lower in names for item in self.items for word in item.words)

    def has_words(self, item: Item) -> bool:
        """Return whether the text has the words of a thing, perhaps as part of another one."""
        return item.concept in self._concepts or all(map(self._words.forms, item.words))


@lru_cache(maxsize=8192)
def named_in(text: str) -> Named:
    """Return the things that a text names; tables repeat their labels and headings."""
    return Named(text)


class Asked:
    """A question: what it names, the periods it asks about, and the kind of answer."""

    def __init__(self, asked: Question, weigh: Weigher, request: Request) -> None:
        self.asks, self.text = asked.asks, asked.text[:MAX_QUESTION]
        question = _HOW_HIGH.sub(_blank, asked.text[:MAX_QUESTION])
        lower = plain(question)
        frame = terms().frame | (terms().calculation if self.asks.operation else frozenset[str]())
        named = items(question)
        dates = Dates(question)
        self.items = [
            one
            for one in named
            if one.concept >= 0 or not any(word.lower in frame or dates.covers(word.span) for word in one.words)
        ]
        names = [word.lower for one in self.items for word in one.words]
        weight = dict(zip(names, weigh(names, request), strict=True)) if names else {}
        raw = [max(weight[word.lower] for word in one.words) * _force(one) + 1e-6 for one in self.items]
        self._halves = [one / sum(raw) / 2 for one in raw for _ in range(2)]
        self.named = Named(question)
        self._plain = f" {_plain(self.text)} "
        self._names = dict[str, frozenset[int]]()
        self._shares = dict[str, float]()
        self._weights = {frozenset[int](): 0.0}
        self.instant = bool(dates.days) and not dates.length and _INSTANT.search(lower) is not None
        self.figures = any(word[:1].isdigit() for word in names)
        self.dates = dates
        self.percent = terms().percents.search(lower) is not None
        self.wanted = [*_wanted(lower, named)]
        self.place = _WHERE.search(lower) is not None
        self.person = _WHO.search(lower) is not None
        self.time = _WHEN.search(lower) is not None
        self.when = _WHEN_ALONE.search(lower) is not None
        undated = terms().recent.sub(_blank, lower)  # "latest" orders nothing if it is the latest period
        self.recent = undated != lower
        # Between two periods the figures are shown, and not a column of changes.
        between = self.asks.operation is not None and len(dates.years) > 1
        self.change = terms().changes.search(lower) is not None and not between
        self.calculates = terms().calculates.search(lower) is not None
        self.total = terms().total.search(lower) is not None
        how = _HOW_LONG.search(lower)
        self.quality = _QUALITIES[how.lastgroup] if how and how.lastgroup else None
        self.quantity = asked.kind == "quantity"
        self.counts = _HOW_MANY.search(lower) is not None
        is_sum = _HOW_MUCH.search(lower) is not None and not self.measures
        self.money = not self.counts and (self.asks.money or names_money(lower) or is_sum)
        verbs = amount_verbs("price", asked.language)
        costs = (n for n, one in enumerate(self.items) if len(one.words) == 1 and plain(one.words[0].lower) in verbs)
        self.priced = frozenset(half for n in costs for half in (2 * n, 2 * n + 1))
        """The halves of "cost" or "expensive", which a column of prices names in other words."""
        self.prices = frozenset(amount_columns("price"))
        self.reached = self._reached()
        """The halves of what reaches somebody, which a column of such numbers or addresses names in other words."""
        ordering = (Span(start=one.start(), end=one.end()) for one in terms().orders.finditer(undated))
        # Nor does "first" in "first quarter".
        self.ordering = frozenset(span.of(undated) for span in ordering if not dates.names(span))
        self.orders = bool(self.ordering)

    @cached_property
    def points(self) -> tuple[Point, ...]:
        """The numbers and the day that it names, which may lie within the range of a row."""
        return points_of(self.text, self.dates)

    def named_at(self, spans: Iterable[Span]) -> frozenset[int]:
        """Return the halves of the items that stand in some spans of the question."""
        places = [*spans]
        return frozenset(
            half
            for n, item in enumerate(self.items)
            if any(one.start <= word.span.start < one.end for word in item.words for one in places)
            for half in (2 * n, 2 * n + 1)
        )

    def _reached(self) -> frozenset[int]:
        contact = self.asks.contact
        said = f"{plain(self.text)} number"
        halves = frozenset[int]()
        for n, one in enumerate(self.items):
            name = " ".join(word.lower for word in one.words)
            if contact and name in said and (name in ("number", "address") or is_of_contact(contact, name)):
                halves |= {2 * n, 2 * n + 1}
        return halves

    @cached_property
    def measures(self) -> list[Item]:
        """The measures that it names, such as revenue."""
        return [one for one in self.items if 0 <= one.concept < terms().measures]

    @cached_property
    def figure(self) -> bool:
        """Whether it asks how much a measure is, so that only a number can answer."""
        named = any(one in self.measures for one in self.wanted)  # "What tax rate did it report?"
        asks = named or _AMOUNT.search(plain(self.text)) is not None
        return bool(self.measures) and not self._otherwise and asks

    @cached_property
    def costs(self) -> bool:
        """Whether it asks by a verb what one thing costs, so that only a number can answer; "cost of" has a noun."""
        begins = self.items and 0 in self.priced and self.items[0].words[0].span.start == 0
        return bool(self.priced) and not begins and not self.wanted and not self._otherwise

    @cached_property
    def _otherwise(self) -> bool:
        """Whether it asks for a name, a place, a time or a reason."""
        return self.who_or_where or self.time or _WHY.search(plain(self.text)) is not None

    @property
    def who_or_where(self) -> bool:
        """Whether it asks for a name or a place."""
        return self.asks.name or self.person or self.place

    @cached_property
    def in_words(self) -> bool:
        """Whether only words can answer, and no figure: it asks for a name, a place or a cause."""
        return not self.asks.number and (self.who_or_where or _CAUSE.search(plain(self.text)) is not None)

    def names_of(self, text: str) -> frozenset[int]:
        """Return which items a text names, as halves: one for the words of an item, and one for the item itself."""
        if text not in self._names:
            named = named_in(text)
            self._names[text] = self._named_by(named) if named.may_have_of(self.named) else frozenset()
        return self._names[text]

    def _named_by(self, text: Named) -> frozenset[int]:
        words_ = {2 * n for n, item in enumerate(self.items) if text.has_words(item)}
        # "Expensive" is no form of "expenses".
        words_ -= {n for n in words_ & self.priced if not text.has_any(frozenset([self.items[n // 2].words[0].lower]))}
        return frozenset(words_ | {n + 1 for n in words_ if text.has(self.items[n // 2])})

    def share_of(self, text: str) -> float:
        """Return the share of the things that a text names that the question names, too; times do not count."""
        if text not in self._shares:
            some = [one for one in named_in(text).items if not _is_time(one)]
            self._shares[text] = sum(map(self.named.has, some)) / len(some) if some else 0.0
        return self._shares[text]

    def has_literally(self, label: str) -> bool:
        """Return whether the question has a label as it is written, and this says more than "total" does."""
        return any(map(_tells, named_in(label).items)) and f" {_plain(label)} " in self._plain

    def weight(self, some: frozenset[int]) -> float:
        """Return the weight of some halves of items together; those of all items sum to 1."""
        if some not in self._weights:
            self._weights[some] = sum(self._halves[n] for n in some)
        return self._weights[some]


@lru_cache(maxsize=8192)
def _plain(text: str) -> str:
    return " ".join(_WORD.findall(text.lower()))


def _tells(item: Item) -> bool:
    """Return whether a thing says more than "total" does."""
    return item.concept >= 0 or not all(word.lower in terms().weak for word in item.words)


def _is_time(item: Item) -> bool:
    return item.concept < 0 and all(word.value or word.lower in terms().frame for word in item.words)


def _blank(found: re.Match[str]) -> str:
    """Return as many spaces, so that places in the text stay the same."""
    return " " * len(found[0])


def _wanted(lower: str, named: Sequence[Item]) -> Iterator[Item]:
    """Yield the thing that "which" or "what" asks for."""
    for match in _ASKED.finditer(lower):
        after = [one for one in named if one.words[0].span.start >= match.end()]
        if after and not lower[match.end() : after[0].words[0].span.start].strip():
            yield after[0]
            if len(after) > 1 and lower[after[0].words[-1].span.end : after[1].words[0].span.start] == " ":
                yield after[1]


@lru_cache(maxsize=8192)
def items(text: str) -> tuple[Item, ...]:
    """Return the things that a text names; the longest phrase of a concept counts."""
    return tuple(_items(text))


def _items(text: str) -> Iterator[Item]:
    written = words(text)
    vocabulary = terms()
    at = 0
    while at < len(written):
        for size in range(min(vocabulary.longest, len(written) - at), 0, -1):
            part = written[at : at + size]
            concept = vocabulary.concepts.get(tuple(map(_singular, part)), -1)
            if concept >= 0:
                yield Item(words=tuple(part), concept=concept)
                at += size
                break
        else:
            if not written[at].stop or written[at].lower in vocabulary.weak:
                yield Item(words=(written[at],))
            at += 1


def _force(item: Item) -> float:
    """Return the factor of the weight of an item."""
    return WEAK if item.concept < 0 and all(word.lower in terms().weak for word in item.words) else 1.0


def _key(phrase: str) -> tuple[str, ...]:
    return tuple(map(_singular, words(phrase)))


def _singular(word: Word) -> str:
    return word.lower[:-1] if len(word.lower) > _SHORT and word.lower.endswith("s") else word.lower
