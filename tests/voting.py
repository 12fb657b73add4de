"""Questions that were voted on, written to the log of learning as an engine does, without asking them."""

from __future__ import annotations

from collections.abc import Callable

from ragstone.access import Reader
from ragstone.engine import Engine
from ragstone.policies.log import Voted, note_vote

_SEEN = {"answerability": 0.5, "support": 1.0, "abstained": True, "marks": None, "web": False, "found": [], "right": []}
"""A refusal, of which no confidence is learned."""


def cast(engine: Engine, count: int, likes: Callable[[int], bool], *, decide: bool = True) -> None:
    """So many questions of forty users, each with a vote on the version that was drawn; then it is decided on them."""
    learner = engine._learner
    for _ in range(count):
        asked = learner.log.position().assignments
        reader, id = Reader(name=f"user{asked % 40}"), f"asked{asked}"
        version = learner.assign(id, "", reader).version
        with engine._journal.writing() as db:
            vote = Voted(
                response_id=id,
                voice=learner.log.voice(reader.name),
                vote=1 if likes(version) else -1,
                at=learner.log.clock(),
                seen=_SEEN,
            )
            note_vote(db, vote)
    if decide:
        learner.evaluate(anyway=True)
