"""Answers that were given, kept for some days, and what people thought of them."""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

from ragstone.access import Reader
from ragstone.answers import Answer
from ragstone.contracts import Considered, Hit, Step
from ragstone.errors import NotFound, TooOften, UsageError
from ragstone.index.journal import Journal, row_crc
from ragstone.usage.journal import DAY

Vote = Literal["up", "down"]
VOTES: Mapping[str, int] = {"up": 1, "down": -1}
HOUR = 3600.0
LONGEST = 4000
"""Characters of a reason, or of the name of a source."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Feedback:
    """What one voice thinks of an answer: the last thing it said. ``at`` is in seconds since 1970.

    ``correction`` names the source that would have been right.
    """

    response_id: str
    voice: str
    at: float
    vote: Vote
    reason: str = ""
    correction: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """A chunk that an answer was made from, as it is kept: without its words, which are the document's to keep."""

    document_id: str
    chunk_id: str
    score: float
    why: tuple[Step, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Response:
    """An answer as it was given. ``answer`` is what interfaces give, as JSON has it.

    ``passages`` are what it was made from, cited or not, and ``hits`` those of them that are stored still;
    ``considered`` what had a chance of a place among them, where something may be learned from it; ``feedback`` is one
    for each voice.
    """

    response_id: str
    at: float
    question: str
    answer: Mapping[str, Any]
    passages: tuple[Passage, ...] = ()
    hits: tuple[Hit, ...] = ()
    considered: tuple[Considered, ...] = ()
    feedback: tuple[Feedback, ...] = ()

    @property
    def evidence(self) -> tuple[str, ...]:
        """The ids of the documents that it was made from."""
        return tuple(dict.fromkeys(one.document_id for one in self.passages))


def answer_json(answer: Answer) -> dict[str, Any]:
    """An answer as every interface gives it: the fields of the record, but for the evidence."""
    return {
        "response_id": answer.response_id,
        "question": answer.question,
        "answer": answer.answer,
        "abstained": answer.abstained,
        "sources": [asdict(source) for source in answer.sources],
        "confidence": answer.confidence,
        "answerability": answer.answerability,
        "support": answer.support,
        "model": answer.model,
        "judge_scores": asdict(answer.judge_scores) if answer.judge_scores else None,
        "retrieval_method": answer.retrieval_method,
        "web_search_triggered": answer.web_search_triggered,
        "timestamp": answer.timestamp,
        "citations": [asdict(citation) for citation in answer.citations],
        "statements": [asdict(statement) for statement in answer.statements],
        "timings_ms": dict(answer.timings_ms),
        "usage": asdict(answer.usage),
        "notices": list(answer.notices),
        "policy": answer.policy,
    }


class Responses:
    """The answers of a knowledge base. Each belongs to the reader it was given to; to others it is not there."""

    def __init__(self, journal: Journal, *, days: float, clock: Callable[[], float] = time.time) -> None:
        """Take the journal, and how many days an answer is kept; 0: none is."""
        self._journal, self._days, self._clock = journal, days, clock

    @property
    def are_kept(self) -> bool:
        return self._days > 0

    def keep(self, answer: Answer, reader: Reader, considered: Sequence[Considered] = ()) -> None:
        """Keep an answer, and forget what is past its time; durable when this returns.

        Raises:
            KnowledgeBaseError: it could not be kept.
        """
        now = self._clock()
        found = [
            {"document_id": hit.chunk.document_id, "chunk_id": hit.chunk.id, "score": hit.score}
            | {"why": [asdict(step) for step in hit.why]}
            for hit in answer.hits
        ]
        others = [[one.document_id, one.vector, one.keyword] for one in considered]
        told = json.dumps({"answer": answer_json(answer), "hits": found, "considered": others})
        row = (answer.response_id, now, reader.who, _storable(answer.question), told)
        with self._journal.writing() as db:
            db.execute(
                "INSERT INTO responses (id, at, reader, question, answer, crc) VALUES (?, ?, ?, ?, ?, ?)",
                [*row, row_crc(*row)],
            )
            oldest = now - self._days * DAY
            db.execute("DELETE FROM feedback WHERE response IN (SELECT id FROM responses WHERE at < ?)", [oldest])
            db.execute("DELETE FROM responses WHERE at < ?", [oldest])

    def get(self, id: str, reader: Reader) -> Response:
        """An answer with what was said of it.

        Raises:
            NotFound: this reader was given none of this id, or it is past its time.
            KnowledgeBaseError: the journal cannot be read.
        """
        sql = "SELECT id, at, reader, question, answer, crc FROM responses WHERE id = ? AND at >= ?"
        with self._journal.reading() as db:
            row = db.execute(sql, [id, self._clock() - self._days * DAY]).fetchone() if db else None
            said = _said(db.execute(_LAST, [id]).fetchall()) if db else ()
        if row is None or row[-1] != row_crc(*row[:-1]) or not (reader.is_owner or reader.who == row[2]):
            raise _not_found(id)
        told = json.loads(row[4])
        passages = tuple(Passage(**{**hit, "why": tuple(Step(**step) for step in hit["why"])}) for hit in told["hits"])
        return Response(
            response_id=id,
            at=row[1],
            question=row[3],
            answer=told["answer"],
            passages=passages,
            considered=tuple(
                Considered(document_id=document, vector=vector, keyword=keyword)
                for document, vector, keyword in told.get("considered", ())
            ),
            feedback=said,
        )

    def rate(
        self,
        id: str,
        *,
        voice: str,
        vote: Vote,
        reason: str = "",
        correction: str = "",
        per_hour: int = 0,
        also: Callable[[sqlite3.Connection, float], None] | None = None,
    ) -> Feedback:
        """Note what somebody thinks of an answer; said again, it counts once, and the last word counts.

        Args:
            id: of the answer; that it is this voice's to rate is known.
            voice: who says it.
            vote: whether it was good.
            reason: in their words.
            correction: the source that would have been right.
            per_hour: how many opinions this voice may give in an hour; 0: any number.
            also: what else is written down in the same transaction, and the moment; not where nothing new was said.

        Raises:
            NotFound: it was forgotten meanwhile.
            UsageError: the vote is none, or a text too long.
            TooOften: this voice has said as much as it may.
            KnowledgeBaseError: it could not be noted.
        """
        if vote not in VOTES:
            raise UsageError(f"a vote is up or down, not '{vote}'")
        for text in (reason, correction, voice):
            if len(text) > LONGEST:
                raise UsageError(f"at most {LONGEST} characters, not {len(text)}")
        now = self._clock()
        row = (id, _storable(voice), now, VOTES[vote], _storable(reason), _storable(correction))
        with self._journal.writing() as db:
            if not db.execute("SELECT 1 FROM responses WHERE id = ?", [id]).fetchone():
                raise _not_found(id)  # what is said of it would outlive it
            last = db.execute(_LAST.replace("?", "?1") + " AND f.voice = ?2", [*row[:2]]).fetchall()
            if last and (last[0][3:6]) == row[3:6]:
                return _said(last)[0]
            if per_hour:
                _refuse_too_many(db, row[1], now, per_hour)
            db.execute(
                "INSERT INTO feedback (response, voice, at, vote, reason, correction, crc)"
                " VALUES (?, ?, ?, ?, ?, ?, ?)",
                [*row, row_crc(*row)],
            )
            if also:
                also(db, now)
        return _said([(*row, row_crc(*row))])[0]


def _not_found(id: str) -> NotFound:
    return NotFound(f"there is no answer '{id}', or it is kept no longer")


def _refuse_too_many(db: sqlite3.Connection, voice: str, now: float, per_hour: int) -> None:
    said = 0
    for one, at in db.execute("SELECT voice, at FROM feedback ORDER BY number DESC"):
        if at <= now - HOUR:  # the rest is older, and may be years of it
            return
        said += one == voice
        if said == per_hour:
            raise TooOften(f"nobody may give more than {per_hour} opinions in an hour", at + HOUR - now)


def _storable(text: str) -> str:
    """The text; halves of characters, which no database keeps, as question marks."""
    return text.encode(errors="replace").decode()


_LAST = """
    SELECT f.response, f.voice, f.at, f.vote, f.reason, f.correction, f.crc FROM feedback f WHERE f.response = ?
    AND f.number = (SELECT max(number) FROM feedback g WHERE g.response = f.response AND g.voice = f.voice)
"""


def _said(rows: list[Any]) -> tuple[Feedback, ...]:
    """Rows of `_LAST` as records; one that is not what was written is left out, and the doctor tells of it."""
    return tuple(
        Feedback(
            response_id=response,
            voice=voice,
            at=at,
            vote="up" if vote > 0 else "down",
            reason=reason,
            correction=correction,
        )
        for response, voice, at, vote, reason, correction, crc in rows
        if crc == row_crc(response, voice, at, vote, reason, correction)
    )
