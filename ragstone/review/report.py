"""Reports of measurements, stored as JSON for later comparison."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, field
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from ragstone.core.errors import SourceError
from ragstone.core.frozen import frozen
from ragstone.review.significance import Interval


@frozen
class Share:
    """A share: ``value`` is ``part`` divided by ``whole``, or None if ``whole`` is 0."""

    part: int
    whole: int
    value: float | None


@frozen
class AnswerReport:
    """How far answers can be trusted, over all questions.

    Citation shares refer to answerable questions with known evidence sentences. A citation is right if it overlaps such
    a sentence in a relevant document.
    """

    questions: int
    abstained: int
    citation_precision: Share
    """Right citations of all citations of answered questions."""
    citation_recall: Share
    """Cited evidence sentences of all evidence sentences, including those of refused questions."""
    refusal_precision: Share
    """Unanswerable questions of all refused questions."""
    refusal_recall: Share
    """Refused questions of all unanswerable questions."""
    quotes_exact: Share
    """Citations with an exact quote of all citations."""
    answers_right: Share = Share(part=0, whole=0, value=None)
    """Answers with a right citation, of all answers to unanswerable questions and to those with known evidence."""

    def shares(self) -> dict[str, Share]:
        """Return the shares by name."""
        return {
            "citation precision": self.citation_precision,
            "citation recall": self.citation_recall,
            "refusal precision": self.refusal_precision,
            "refusal recall": self.refusal_recall,
            "quotes exact": self.quotes_exact,
            "answers right": self.answers_right,
        }


@frozen
class QueryResult:
    """The result of one question: its measures (none without a relevant document), and its answer if it was asked.

    ``expected`` and ``found`` are document ids; ``found`` has the first few. ``first`` is the rank, from 1, of the
    first expected document, or None. ``milliseconds`` is the time of the search.
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


@frozen
class Group:
    """Judged questions with the same property ``by`` of value ``name``."""

    by: str
    name: str
    questions: int
    measures: Mapping[str, Interval]


@frozen
class EvalReport:
    """A report. ``measures`` are means with 95% intervals over the ``judged`` queries.

    ``settings`` lists all measured settings as written on the command line.
    """

    dataset: str
    queries: int
    judged: int
    measures: Mapping[str, Interval]
    answers: AnswerReport | None
    per_query: tuple[QueryResult, ...]
    groups: tuple[Group, ...] = ()
    settings: Mapping[str, str] = field(default_factory=dict[str, str])
    measured: str = ""

    @property
    def milliseconds(self) -> float:
        """Mean time of a search; 0 if there was none."""
        times = [result.milliseconds for result in self.per_query if result.measures]
        return sum(times) / len(times) if times else 0.0

    def to_json(self) -> str:
        """Return the report as JSON."""
        return json.dumps(asdict(self), ensure_ascii=False, indent=1)


def read_report(path: Path) -> EvalReport:
    """Read a saved report.

    Raises:
        SourceError: the file cannot be read, or is not a report.
    """
    try:
        return TypeAdapter(EvalReport).validate_json(path.read_bytes())
    except OSError as error:
        raise SourceError(f"{path} cannot be read: {error.strerror}") from error
    except ValidationError as error:
        problem = error.errors()[0]
        where = ".".join(map(str, problem["loc"]))
        raise SourceError(
            f"{path} is not a report of `ragstone eval --save`: {f'{where}: ' if where else ''}{problem['msg']}"
        ) from error
