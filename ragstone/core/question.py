"""The question of a turn, read once: every stage receives this record, never the text of the question.

`ragstone.question.read` makes it. A question of several is in ``parts``, each a record of its own.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Literal

from ragstone.core.frozen import frozen
from ragstone.core.kinds import CollectionFact, Difficulty, Kind, TalkKind
from ragstone.core.span import Span
from ragstone.core.words import Word

NOWHERE = Span(start=0, end=0)
MAX_QUESTION = 2000
"""Characters of a question of which anything is read."""
Role = Literal["subject", "case", "threshold", "unit"]
"""What a requirement is for. The answer must be about the ``subject``; a ``case`` only describes the asker's situation,
a ``threshold`` is compared with what the documents say, and a ``unit`` is the one in which the answer is wished."""
RequirementKind = Literal["year", "quarter", "month", "version", "number", "place", "name"]
PERIODS: frozenset[RequirementKind] = frozenset({"year", "quarter", "month", "version"})
"""The kinds of requirements that say which of several versions is meant."""
Operation = Literal["difference", "change in percent", "sum", "mean"]
Extreme = Literal["largest", "smallest"]
Contact = Literal["phone", "mobile", "mail"]
"""What reaches somebody; a phone may be a mobile one."""
Wanted = Literal["largest", "smallest", "count", "distinct", "sum", "rows", "some rows"]


@frozen
class Entity:
    """A named entity in a question, of a kind listed in the settings."""

    kind: str
    text: str


@frozen
class Talk:
    """A question that needs no search, and what it names.

    ``language`` is that of the pattern. ``fact`` is set if the question is about the collection. ``topic``,
    ``title``, ``author``, ``year`` and ``format`` are the words of the question that say which documents are meant,
    and ``written_in`` is the ISO 639-1 code of their language. ``called`` is a word for documents before the title;
    ``other`` is a second title, with which the first is to be compared, and ``added`` says that a document which
    was just added is meant. A summary with a ``topic`` is one of what many say.
    """

    kind: TalkKind
    language: str
    fact: CollectionFact | None = None
    topic: str = ""
    title: str = ""
    called: str = ""
    other: str = ""
    added: bool = False
    author: str = ""
    year: str = ""
    format: str = ""
    written_in: str = ""

    @property
    def names_something(self) -> bool:
        """Whether it names what it asks about, so that it may have been searched for."""
        return bool(self.title or self.topic)


@frozen
class Period:
    """A period that a text names, as written there.

    A quarter or month is ``first`` and ``last`` by its number; years are from the first to the last, so that a decade
    is one period.
    """

    kind: Literal["year", "quarter", "month"]
    first: int
    last: int
    text: str
    span: Span


@frozen
class Requirement:
    """Something that a question fixes, as the question writes it, and what it is for.

    A ``place`` has its code as ``value``, a ``number`` or ``version`` the number; ``anchor`` is the word whose number a
    version is. ``words`` are those of a name or number. An ``unsure`` one may be no name.
    """

    kind: RequirementKind
    text: str
    span: Span = NOWHERE
    words: tuple[Word, ...] = ()
    value: str = ""
    period: Period | None = None
    anchor: Word | None = None
    unsure: bool = False
    role: Role = "subject"


@frozen
class RowLimit:
    """A limit for rows: values from ``least`` to ``most`` fit, these two themselves only if they are ``included``.

    One of them may be None. ``currency`` is the code of their currency; empty if they name none. ``decimal`` is the
    sign before decimals in the language of the question.
    """

    least: Decimal | None = None
    most: Decimal | None = None
    included: bool
    currency: str = ""
    decimal: str = "."

    def admits(self, value: Decimal) -> bool:
        """Return whether a value fits."""
        if value in (self.least, self.most):
            return self.included
        return (self.least is None or value > self.least) and (self.most is None or value < self.most)


@frozen
class Comparison:
    """What a question compares over all rows of a table, or which of them it wants listed: all or only some.

    ``words`` are its words that must be found in the table, in order, without those that only ask. ``columns`` are the
    columns that an adjective or a verb means, such as the price of "cheapest"; ``limit`` is that of a count or of rows.
    """

    wanted: Wanted
    words: tuple[Word, ...]
    columns: tuple[str, ...] = ()
    limit: RowLimit | None = None


@frozen
class Asks:
    """The kind of value that answers a question.

    A figure in one of the ``units`` answers it, if there are any. ``codes`` are those whose meaning is all that is
    asked for, in lower case without hyphens. ``contact`` is what is asked for of somebody.
    """

    number: bool = False
    name: bool = False
    money: bool = False
    operation: Operation | None = None
    extreme: Extreme | None = None
    comparison: Comparison | None = None
    units: tuple[str, ...] = ()
    codes: tuple[str, ...] = ()
    contact: Contact | None = None


@frozen
class Wishes:
    """What the asker wishes about the form of the answer; none of it is searched for.

    ``language`` is an ISO 639-1 code, or the word for a language that has none here; ``form`` and ``length`` are the
    words that name them; ``sources`` says that the sources are wanted, which every answer has.
    """

    language: str = ""
    form: str = ""
    length: str = ""
    sources: bool = False

    def __bool__(self) -> bool:
        return bool(self.language or self.form or self.length or self.sources)


@frozen
class Wording:
    """The words that retrieval searches for, which nothing else reads.

    ``typed`` is the question without what the conversation adds, ``text`` the same with corrected diacritics and typing
    errors, ``language`` the one of the documents' languages in which it is analysed. ``variations`` are alternative
    wordings to search for as well. ``context`` is the question together with the previous turn, for a second search; it
    is empty if there is none.
    """

    typed: str
    text: str
    language: str = ""
    variations: tuple[str, ...] = ()
    context: str = ""


@frozen
class Question:
    """A question as it was ``asked``, and as it is understood: its ``text``, and everything that the text says.

    ``text`` lacks the frame (greetings, a signature, wishes about the form) and has what the conversation adds.
    ``language`` is an ISO 639-1 code, or empty if unknown. ``keywords`` are content words in lower case, ``technical``
    identifiers and similar terms as written; ``keyword_like`` says that the question is not a sentence. ``depends``
    says that it may not be understood without the turn before it, which ``refers`` to something in a word such as "it".
    ``rewritten`` is the wording of a language model, or the last question if this one is only ``about_answer``, the
    last answer. ``parts`` are the questions of a message that asks several.
    """

    asked: str
    text: str
    language: str = ""
    kind: Kind = "question"
    talk: Talk | None = None
    words: tuple[Word, ...] = ()
    keywords: tuple[str, ...] = ()
    technical: tuple[str, ...] = ()
    entities: tuple[Entity, ...] = ()
    wants_code: bool = False
    difficulty: Difficulty = "intermediate"
    recent: bool = False
    keyword_like: bool = False
    depends: bool = False
    refers: bool = False
    requirements: tuple[Requirement, ...] = ()
    asks: Asks = Asks()
    wishes: Wishes = Wishes()
    parts: tuple[Question, ...] = ()
    rewritten: str = ""
    about_answer: bool = False
    wording: Wording = Wording(typed="", text="")

    @property
    def notices(self) -> tuple[str, ...]:
        """Messages for the asker."""
        also = (() if self.wording.text == self.wording.typed else (self.wording.text,)) + self.wording.variations
        return tuple(f"searched also for: {one}" for one in also)

    @property
    def must_have(self) -> tuple[Requirement, ...]:
        """The requirements that a passage must meet to answer."""
        return tuple(one for one in self.requirements if one.role == "subject")

    @property
    def versions_meant(self) -> tuple[Requirement, ...] | None:
        """The periods and numbers of the version that it means, none for the newest; None if it means several.

        "Before 2024" means several, and so does a question that compares two years.
        """
        fixed = tuple(one for one in self.must_have if one.kind in PERIODS)
        years = {one.span for one in fixed if one.kind == "year"}
        bounds = any(one.kind in PERIODS and one.role == "threshold" for one in self.requirements)
        return None if len(years) > 1 or (bounds and not fixed) else fixed
