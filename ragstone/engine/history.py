"""What people did with a knowledge base: conversations, answers, votes, statistics, latest questions."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace

from ragstone.core.access import READERS, Reader
from ragstone.core.errors import NotFound
from ragstone.engine.attached import attached_to, note_ended
from ragstone.engine.caching import LEVELS, Level, latest_questions
from ragstone.engine.components import Components
from ragstone.engine.opening import OpenVersions
from ragstone.engine.replied import hits_of_passages
from ragstone.engine.sharing import SharedTurn, copy_shared, shared_turns
from ragstone.history.conversations import Session, StoredTurn
from ragstone.history.responses import Feedback, Opinions, Response, Unanswered, Vote
from ragstone.history.shares import Share
from ragstone.history.statistics import Report
from ragstone.history.store import JournalStore


class History:
    """The history of a knowledge base, limited to what one reader may see."""

    def __init__(self, versions: OpenVersions) -> None:
        self._versions = versions

    def journal(self) -> JournalStore:
        """Return the journal for use apart from questions; the caller closes it."""
        with self._versions.current() as version:
            return version.history.journal().another()

    def conversations(self, *, reader: Reader, q: str = "") -> list[Session]:
        """Return this reader's conversations that have some words, or all of them, the last one first."""
        with self._versions.current() as version:
            return version.history.conversations().sessions(reader.namespace, q)

    def turns(self, session: str, *, reader: Reader) -> list[StoredTurn]:
        """Return the turns of a conversation of this reader, oldest first; empty if there is none."""
        with self._versions.current() as version:
            return version.history.conversations().turns(reader.session(session), reader.who)

    def name(self, session: str, *, reader: Reader, title: str | None = None, pinned: bool | None = None) -> None:
        """Rename a conversation of this reader, or pin it to the top; None leaves a property unchanged.

        Raises:
            NotFound: there is no such conversation.
        """
        with self._versions.current() as version:
            if not version.history.conversations().name(reader.session(session), title=title, pinned=pinned):
                raise NotFound("there is no such conversation")

    def forget(self, session: str, *, reader: Reader) -> int:
        """Delete a conversation of this reader, and return its number of questions.

        A server soon erases the files that are attached to it.
        """
        with self._versions.current() as version:
            questions = version.history.conversations().forget(reader.session(session))
            conversation = reader.within(session).conversation
            if questions and attached_to(version.catalog, conversation):
                note_ended(version.folder, conversation)
            return questions

    def share(self, session: str, *, reader: Reader, days: float | None = None) -> tuple[Share, str]:
        """Create a link to a conversation of this reader as it is now, for some days or as long as it is stored.

        Returns:
            The link, and its secret, which is not stored. A reader with the secret sees the answers that use only
            documents they may read.

        Raises:
            NotFound: there is no such conversation.
            UsageError: there are too many links to it.
        """
        with self._versions.current() as version:
            return version.history.shares().make(reader.session(session), days)

    def shares(self, session: str, *, reader: Reader) -> list[Share]:
        """Return the links to a conversation of this reader, the newest first."""
        with self._versions.current() as version:
            return version.history.shares().of(reader.session(session))

    def take_back(self, session: str, *, reader: Reader) -> list[Share]:
        """Delete all links to a conversation of this reader, and return them."""
        with self._versions.current() as version:
            return version.history.shares().take_back(reader.session(session))

    def shared(self, secret: str, *, reader: Reader) -> list[SharedTurn]:
        """Return a shared conversation, limited to the answers whose documents this reader may read.

        Raises:
            NotFound: there is no such link, or it has expired.
        """
        with self._versions.current() as version:
            return shared_turns(version, secret, reader)

    def copy_shared(self, secret: str, *, reader: Reader) -> str:
        """Copy what this reader sees of a shared conversation into one of their own, and return its name.

        Raises:
            NotFound: there is no such link, it has expired, or this reader may read none of its answers.
        """
        with self._versions.current() as version:
            return copy_shared(version, secret, reader)

    def response(self, response_id: str, *, reader: Reader) -> Response:
        """Return an answer of this reader with its votes, and with its evidence as far as it is stored.

        Raises:
            NotFound: there is none, it is older than ``review.responses_days``, or it uses documents that this reader
                may no longer read.
        """
        with self._versions.current() as version:
            return _response(version, response_id, reader)

    def forget_response(self, response_id: str, *, session: str, reader: Reader) -> None:
        """Delete an answer of this reader, and its turn in this conversation of theirs.

        Raises:
            NotFound: there is no such answer.
        """
        with self._versions.current() as version:
            history = version.history
            if history.responses().find(response_id, reader.who) is None:
                raise NotFound(f"there is no answer '{response_id}', or it is no longer stored")
            for one in history.conversations().turns(reader.session(session), reader.who):
                if one.response_id == response_id:
                    history.conversations().forget_turn(one.number)
            history.responses().forget(response_id)

    def rate(
        self,
        response_id: str,
        *,
        reader: Reader,
        vote: Vote,
        voice: str = "",
        reason: str = "",
        correction: str = "",
    ) -> Feedback:
        """Vote on an answer. A repeated vote counts once; a new vote replaces the old one.

        Args:
            response_id: of the answer.
            reader: the reader, who can vote only on their own answers.
            vote: up or down.
            voice: the voter; the reader if not given.
            reason: in the voter's words.
            correction: the right document, by its id or the end of it, or any other source.

        Raises:
            NotFound: there is no such answer.
            UsageError: the vote is neither up nor down, or a text is too long.
            RateLimited: this voter has reached the limit.
        """
        with self._versions.current() as version:
            rated = _response(version, response_id, reader)
            if correction:
                with suppress(NotFound):
                    correction = version.catalog.document(correction, reader.names).id
            voice, learner = voice or reader.name, version.history.learner()
            feedback = version.history.responses().rate(
                response_id,
                voice=voice,
                vote=vote,
                reason=reason,
                correction=correction,
                per_hour=version.settings.learning.per_hour,
                also=learner.vote_writer(rated, voice=voice, vote=vote, correction=correction)
                if learner.is_on
                else None,
            )
            learner.evaluate_soon()
            return feedback

    def statistics(self, days: float = 7.0) -> Report:
        """Return the statistics of the last days, from every process that had this knowledge base open."""
        with self._versions.current() as version:
            return version.history.statistics().report(days)

    def unanswered(self, days: float, most: int) -> list[Unanswered]:
        """Return the questions of all readers in the last days that were not answered, the most frequent first."""
        with self._versions.current() as version:
            return version.history.responses().unanswered(days, most)

    def opinions(self, days: float) -> Opinions:
        """Return the votes on the answers of the last days."""
        with self._versions.current() as version:
            return version.history.responses().opinions(days)

    def latest_questions(self, count: int) -> list[str]:
        """Return the latest questions, newest first; empty if ``cache.questions`` is off."""
        with self._versions.current() as version:
            return latest_questions(version.cache(), count)

    def clear_cache(self, level: Level | None = None) -> None:
        """Delete the cache of a level, or all of it and the latest questions.

        Only time, and the cost of service calls, is lost.
        """
        with self._versions.current() as version:
            version.cache().clear(LEVELS[level] if level else ())


def _response(version: Components, response_id: str, reader: Reader) -> Response:
    response = version.history.responses().get(response_id, reader)
    groups = version.catalog.access_groups(response.evidence)
    if not all(reader.may_read({READERS: named}) for named in groups.values()):
        raise NotFound(f"there is no answer '{response_id}', or it is no longer stored")
    hits = hits_of_passages(version.catalog, response.passages)
    return replace(response, hits=tuple(hit for hit in hits if reader.may_read(hit.chunk.metadata)))
