"""Answers, stored for some days, and the votes on them."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from typing import Any, Literal

from ragstone.core.access import Reader
from ragstone.core.answers import ABSTAINED, Answer
from ragstone.core.errors import NotFound, RateLimited, UsageError
from ragstone.core.frozen import frozen
from ragstone.core.printable import encodable
from ragstone.core.records import Considered, Hit, Step
from ragstone.history.conversations import COPIED_TO
from ragstone.history.journal import row_crc
from ragstone.history.store import DAY, JournalDatabase, JournalStore

Vote = Literal["up", "down"]
VOTES: Mapping[str, int] = {"up": 1, "down": -1}
HOUR = 3600.0
_UNANSWERED = tuple(f'%"outcome": "{outcome}"%' for outcome in sorted(ABSTAINED))
"""In the JSON of an answer, only its own field has this form: quotation marks within texts are escaped."""
LONGEST = 4000
"""Characters of a reason or the name of a source."""


@frozen
class Feedback:
    """The latest vote of one voter on an answer.

    ``at`` is in seconds since 1970. ``correction`` names the right source.
    """

    response_id: str
    voice: str
    at: float
    vote: Vote
    reason: str = ""
    correction: str = ""


@frozen
class Passage:
    """A chunk in the evidence of an answer, without its text, which the catalog has."""

    document_id: str
    chunk_id: str
    score: float
    why: tuple[Step, ...] = ()


@frozen
class Response:
    """A stored answer. ``answer`` is its JSON, as all interfaces return it.

    ``passages`` are the evidence, cited or not, and ``hits`` the part of it that is still stored; ``considered`` are
    the candidates for it, if something can be learned from them; ``feedback`` has one vote per voter. ``asker`` has the
    asker's groups at that time; None if they are unknown. ``is_private`` is as that of an `Answer`.
    """

    response_id: str
    at: float
    question: str
    answer: Mapping[str, Any]
    passages: tuple[Passage, ...] = ()
    hits: tuple[Hit, ...] = ()
    considered: tuple[Considered, ...] = ()
    feedback: tuple[Feedback, ...] = ()
    asker: Reader | None = None
    is_private: bool = False

    @property
    def evidence(self) -> tuple[str, ...]:
        """The ids of the documents in its evidence."""
        return tuple(dict.fromkeys(one.document_id for one in self.passages))


@frozen
class Unanswered:
    """A question without an answer, the number of times it was asked, and the last time, in seconds since 1970.

    ``shown`` is how often passages that may answer were shown; the other times it was refused or asked back.
    """

    question: str
    count: int
    shown: int
    last: float


@frozen
class Opinions:
    """The numbers of voters whose last vote on an answer is up, and down."""

    up: int
    down: int


class Responses:
    """The answers of a knowledge base. Each belongs to the reader who asked and does not exist for others."""

    def __init__(self, journal: JournalStore, *, days: float, clock: Callable[[], float] | None = None) -> None:
        """Take the journal, and the days to store an answer; 0 stores none."""
        self._journal, self._days, self._clock = journal, days, clock or journal.clock

    @property
    def are_kept(self) -> bool:
        return self._days > 0

    def keep(self, answer: Answer, reader: Reader, considered: Sequence[Considered] = ()) -> None:
        """Store an answer, durably, and delete expired ones.

        Raises:
            KnowledgeBaseError: it could not be stored.
        """
        now = self._clock()
        kept = Response(
            response_id=answer.response_id,
            at=now,
            question=answer.question,
            answer=answer.to_dict(),
            passages=tuple(
                Passage(document_id=hit.chunk.document_id, chunk_id=hit.chunk.id, score=hit.score, why=hit.why)
                for hit in answer.hits
            ),
            considered=tuple(considered),
            asker=reader,
            is_private=answer.is_private,
        )
        with self._journal.writing() as db:
            put_response(db, kept, reader)
            oldest = now - self._days * DAY
            db.execute("DELETE FROM feedback WHERE response IN (SELECT id FROM responses WHERE at < ?)", [oldest])
            db.execute("DELETE FROM responses WHERE at < ?", [oldest])

    def get(self, id: str, reader: Reader) -> Response:
        """Return an answer with its feedback.

        Raises:
            NotFound: this reader has no such answer, or it has expired.
            KnowledgeBaseError: the journal cannot be read.
        """
        found = self.find(id, None if reader.is_owner else reader.who)
        if found is None:
            raise _not_found(id)
        return found

    def find(self, id: str, who: str | None) -> Response | None:
        """Return an answer with its feedback; None if there is none, or it has expired.

        Args:
            id: of the answer.
            who: the stored key of the reader who asked; None for any.

        Raises:
            KnowledgeBaseError: the journal cannot be read.
        """
        sql = "SELECT id, at, reader, question, answer, crc FROM responses WHERE id = ? AND at >= ?"
        oldest = self._clock() - self._days * DAY
        with self._journal.reading() as db:
            row = db.execute(sql, [id, oldest]).fetchone() if db else None
            feedback = _said(db.execute(_LAST, [id]).fetchall()) if db else ()
        if row is None or row[-1] != row_crc(*row[:-1]) or who not in (None, row[2]):
            return None
        fields = json.loads(row[4])
        passages = tuple(
            Passage(
                document_id=hit["document_id"],
                chunk_id=hit["chunk_id"],
                score=hit["score"],
                why=tuple(Step(**step) for step in hit["why"]),
            )
            for hit in fields["hits"]
        )
        return Response(
            response_id=id,
            at=row[1],
            question=row[3],
            answer=fields["answer"],
            passages=passages,
            considered=tuple(
                Considered(document_id=document, vector=vector, keyword=keyword)
                for document, vector, keyword in fields["considered"]
            ),
            feedback=feedback,
            asker=_asker(fields["groups"]) if "groups" in fields else None,
            is_private=fields.get("private", False),
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
        also: Callable[[JournalDatabase, float], None] | None = None,
    ) -> Feedback:
        """Store the vote of a voter on an answer; a repeated vote counts once, and the latest counts.

        Args:
            id: of the answer; the caller has checked that this voter may rate it.
            voice: the voter.
            vote: whether the answer was good.
            reason: in the voter's words.
            correction: the right source.
            per_hour: the most votes of this voter in an hour; 0 for any number.
            also: called in the same transaction, with the time, unless the vote is unchanged.

        Raises:
            NotFound: the answer was deleted in the meantime.
            UsageError: the vote is unknown, or a text is too long.
            RateLimited: this voter has reached the limit.
            KnowledgeBaseError: it could not be stored.
        """
        if vote not in VOTES:
            raise UsageError(f"a vote is up or down, not '{vote}'")
        for text in (reason, correction, voice):
            if len(text) > LONGEST:
                raise UsageError(f"at most {LONGEST} characters, not {len(text)}")
        now = self._clock()
        row = (id, encodable(voice), now, VOTES[vote], encodable(reason), encodable(correction))
        with self._journal.writing() as db:
            if not db.execute("SELECT 1 FROM responses WHERE id = ?", [id]).fetchone():
                raise _not_found(id)  # the vote would outlive the answer
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

    def forget(self, id: str) -> None:
        """Delete an answer and the votes on it.

        Raises:
            KnowledgeBaseError: it could not be deleted.
        """
        with self._journal.writing() as db:
            db.execute("DELETE FROM feedback WHERE response = ?", [id])
            db.execute("DELETE FROM responses WHERE id = ?", [id])
        self._journal.forget_pages()

    def unanswered(self, days: float, most: int) -> list[Unanswered]:
        """Return the questions of the last days that were not answered, of all readers, the most frequent first.

        Those of private answers are left out: they may be about what only their reader may read.

        Raises:
            KnowledgeBaseError: the journal cannot be read.
        """
        unanswered = " OR ".join("answer LIKE ?" for _ in _UNANSWERED)
        columns = "id, at, reader, question, answer, crc"
        sql = f"SELECT {columns} FROM responses WHERE at >= ? AND ({unanswered}) ORDER BY at"  # noqa: S608
        since = self._clock() - min(days, self._days) * DAY
        with self._journal.reading() as db:
            rows = db.execute(sql, [since, *_UNANSWERED]).fetchall() if db else []
        by_question: dict[str, Unanswered] = {}
        for _, at, _, question, stored, _ in (row for row in rows if row[-1] == row_crc(*row[:-1])):
            kept = json.loads(stored)
            if kept.get("private"):
                continue
            same = " ".join(question.split()).rstrip("?.! ").casefold()
            before = by_question.get(same, Unanswered(question=question, count=0, shown=0, last=at))
            shown = before.shown + (kept["answer"].get("outcome") == "closest")
            by_question[same] = Unanswered(question=question, count=before.count + 1, shown=shown, last=at)
        return sorted(by_question.values(), key=lambda one: (-one.count, -one.last))[:most]

    def opinions(self, days: float) -> Opinions:
        """Return the votes on the answers of the last days.

        Raises:
            KnowledgeBaseError: the journal cannot be read.
        """
        sql = """
            SELECT f.vote, count(*) FROM feedback f JOIN responses r ON r.id = f.response WHERE r.at >= ?
            AND f.number = (SELECT max(number) FROM feedback g WHERE g.response = f.response AND g.voice = f.voice)
            GROUP BY f.vote
        """
        since = self._clock() - min(days, self._days) * DAY
        with self._journal.reading() as db:
            counts: dict[int, int] = dict(db.execute(sql, [since]).fetchall()) if db else {}
        return Opinions(up=counts.get(VOTES["up"], 0), down=counts.get(VOTES["down"], 0))


def put_response(db: JournalDatabase, kept: Response, reader: Reader, *, copied_to: str = "") -> None:
    """Store an answer without its feedback for a reader, as part of a transaction.

    Args:
        db: the journal.
        kept: the answer.
        reader: whose it is.
        copied_to: the session whose turn a copy belongs to; the reader may have the original as well.
    """
    fields: dict[str, Any] = {
        "answer": kept.answer,
        "hits": [asdict(one) for one in kept.passages],
        "considered": [[one.document_id, one.vector, one.keyword] for one in kept.considered],
    }
    if kept.is_private:
        fields["private"] = True
    if copied_to:
        fields[COPIED_TO] = copied_to
    if kept.asker:
        fields["groups"] = None if kept.asker.groups is None else sorted(kept.asker.groups)
    row = (kept.response_id, kept.at, reader.who, encodable(kept.question), json.dumps(fields))
    db.execute(
        "INSERT INTO responses (id, at, reader, question, answer, crc) VALUES (?, ?, ?, ?, ?, ?)", [*row, row_crc(*row)]
    )


def _asker(groups: list[str] | None) -> Reader:
    return Reader(groups=None if groups is None else frozenset(groups))


def _not_found(id: str) -> NotFound:
    return NotFound(f"there is no answer '{id}', or it is no longer stored")


def _refuse_too_many(db: JournalDatabase, voice: str, now: float, per_hour: int) -> None:
    sql = "SELECT at FROM feedback WHERE voice = ? AND at > ? ORDER BY number DESC LIMIT ?"
    said = db.execute(sql, [voice, now - HOUR, per_hour]).fetchall()
    if len(said) == per_hour:
        raise RateLimited(f"nobody may cast more than {per_hour} votes in an hour", said[-1][0] + HOUR - now)


_LAST = """
    SELECT f.response, f.voice, f.at, f.vote, f.reason, f.correction, f.crc FROM feedback f WHERE f.response = ?
    AND f.number = (SELECT max(number) FROM feedback g WHERE g.response = f.response AND g.voice = f.voice)
"""


def _said(rows: list[Any]) -> tuple[Feedback, ...]:
    """Return rows of `_LAST` as records, without damaged ones, which doctor reports."""
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
