"""What is kept of the people who ask: what they may read, their conversations, the answers they got and rated."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace

from ragstone.access import OWNER, READERS, Reader
from ragstone.answers import Answer, Turn
from ragstone.contracts import Considered, Hit
from ragstone.errors import KnowledgeBaseError, NotFound
from ragstone.keeping.moving import on_newest
from ragstone.policies.governing import Governed
from ragstone.usage.journal import Said, Session
from ragstone.usage.responses import Feedback, Response, Vote
from ragstone.usage.statistics import Report


class People(Governed):
    """The part of an engine that knows its readers apart."""

    @on_newest
    def conversations(self, *, reader: Reader = OWNER) -> list[Session]:
        """This reader's conversations that are kept, the last one first."""
        return self._conversations.sessions(reader.namespace)

    @on_newest
    def turns(self, session: str, *, reader: Reader = OWNER) -> list[Said]:
        """What was said in a conversation of this reader, the oldest first; nothing where there is no such one."""
        return self._conversations.turns(reader.session(session), reader.who)

    @on_newest
    def forget(self, session: str, *, reader: Reader = OWNER) -> int:
        """Delete a conversation of this reader; gives how many questions it had."""
        return self._conversations.forget(reader.session(session))

    @on_newest
    def response(self, response_id: str, *, reader: Reader = OWNER) -> Response:
        """An answer that was given to this reader, as it was, what was said of it, and its evidence where it is stored.

        Raises:
            NotFound: there is none, it is past ``review.responses_days``, or it rests on what this reader may no longer
                read.
        """
        found = self._responses.get(response_id, reader)
        named = self._catalog.readers(found.evidence) if reader.groups is not None else {}
        if not all(reader.may_read({READERS: groups}) for groups in named.values()):
            raise NotFound(f"there is no answer '{response_id}', or it is kept no longer")
        chunks = self._catalog.chunks_named([one.chunk_id for one in found.passages])
        there = [(chunks[one.chunk_id], one) for one in found.passages if one.chunk_id in chunks]
        hits = [Hit(chunk=chunk, score=one.score, why=one.why) for chunk, one in there]
        return replace(found, hits=tuple(hit for hit in hits if reader.may_read(hit.chunk.metadata)))

    @on_newest
    def feedback(
        self,
        response_id: str,
        *,
        voice: str = "",
        vote: Vote,
        reason: str = "",
        correction: str = "",
        reader: Reader = OWNER,
    ) -> Feedback:
        """Say whether an answer was good. Said twice it counts once; who says something else has changed their mind.

        Args:
            response_id: of the answer.
            voice: who says it; the reader, if not given.
            vote: up or down.
            reason: in their words.
            correction: the document that would have been right, by its id or the end of it, or any other source.
            reader: who asks; only answers that were given to this reader can be rated.

        Raises:
            NotFound: there is no such answer.
            UsageError: the vote is neither up nor down, or a text is too long.
            TooOften: this voice has given as many opinions as it may.
        """
        rated = self.response(response_id, reader=reader)
        with suppress(NotFound):
            correction = correction and self.document(correction, reader=reader).id
        voice, learner = voice or reader.name, self._learner
        said = self._responses.rate(
            response_id,
            voice=voice,
            vote=vote,
            reason=reason,
            correction=correction,
            per_hour=self.settings.learning.per_hour,
            also=learner.noting(rated, voice, vote, correction) if learner.is_on else None,
        )
        learner.heard()
        return said

    @on_newest
    def statistics(self, days: float = 7.0) -> Report:
        """What happened in the last days, in all processes that keep this knowledge base open, or did."""
        return self._statistics.report(days)

    def _kept(self, answer: Answer, session: str, reader: Reader, considered: Sequence[Considered] = ()) -> Answer:
        """The answer, once it is written down; it is told of it where that failed."""
        if session:
            self._conversations.note(session, Turn(question=answer.question, answer=answer.answer))
        if self._responses.are_kept:
            try:
                self._responses.keep(answer, reader, considered)
            except KnowledgeBaseError as error:
                told = f"this answer cannot be rated later (review.responses_days=0 stops trying): {error}"
                return replace(answer, notices=(*answer.notices, told))
        return answer
