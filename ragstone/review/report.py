"""What was measured, as records; kept as JSON, to compare with later."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from ragstone.errors import SourceError
from ragstone.review.significance import Interval


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """``part`` of ``whole``, and ``value``, their quotient: None where there is nothing to divide by."""

    part: int
    whole: int
    value: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerReport:
    """How far answers can be trusted, over all questions asked.

    Citation shares are taken over answerable questions with known evidence sentences. A citation is
    right where it shares a character with such a sentence in a relevant document.
    """

    questions: int
    abstained: int
    citation_precision: Share
    """Right citations of all citations, where the question was answered."""
    citation_recall: Share
    """Evidence sentences touched by a citation of all of them, those of refused questions too."""
    refusal_precision: Share
    """Unanswerable questions of all that were refused."""
    refusal_recall: Share
    """Refused questions of all that are unanswerable."""
    quotes_exact: Share
    """Citations whose quote is what the document has at that place, of all citations."""

    def shares(self) -> dict[str, Share]:
        """The shares by their names in words."""
        return {
            "citation precision": self.citation_precision,
            "citation recall": self.citation_recall,
            "refusal precision": self.refusal_precision,
            "refusal recall": self.refusal_recall,
            "quotes exact": self.quotes_exact,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryResult:
    """One question: its measures (none without a relevant document), and how it was answered, if it was asked.

    ``expected`` and ``found`` are document ids, those found best first and few; ``first`` is the rank, from 1, of
    the first document expected, None where none was found. ``milliseconds`` is what the search took.
    """

    id: str
    measures: Mapping[str, float]
    answerable: bool
    text: str = ""
    lang: str = ""
    kind: str = ""
    expected: tuple[str, ...] = ()
    found: tuple[str, ...] = ()
    first: int | None = None
    milliseconds: float = 0.0
    abstained: bool | None = None
    confidence: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """The judged questions that have something in common: ``by`` says what, ``name`` which."""

    by: str
    name: str
    questions: int
    measures: Mapping[str, Interval]


@dataclass(frozen=True, slots=True, kw_only=True)
class EvalReport:
    """What was measured. ``measures`` are means with 95% intervals over the ``judged`` queries.

    ``settings`` are those that were measured, as they are written on the command line, all of them.
    """

    dataset: str
    queries: int
    judged: int
    measures: Mapping[str, Interval]
    answers: AnswerReport | None
    per_query: tuple[QueryResult, ...]
    groups: tuple[Group, ...] = ()
    settings: Mapping[str, str] = field(default_factory=dict)
    measured: str = ""

    @property
    def milliseconds(self) -> float:
        """What the search of a question took, on average; 0 where none was searched for."""
        spent = [result.milliseconds for result in self.per_query if result.measures]
        return sum(spent) / len(spent) if spent else 0.0

    def to_json(self) -> str:
        return json.dumps(asdict(self), ensure_ascii=False, indent=1)


def read_report(path: Path) -> EvalReport:
    """A report that was saved.

    Raises:
        SourceError: the file cannot be read, or is no report.
    """
    try:
        return TypeAdapter(EvalReport).validate_json(path.read_bytes())
    except OSError as error:
        raise SourceError(f"{path} cannot be read: {error.strerror}") from error
    except ValidationError as error:
        problem = error.errors()[0]
        where = ".".join(map(str, problem["loc"]))
        raise SourceError(
            f"{path} is no report of `ragstone eval --save`: {f'{where}: ' if where else ''}{problem['msg']}"
        ) from error
