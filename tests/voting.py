"""Writes votes to the log of learning as an engine does, without asking questions."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager

from ragstone.engine.knowledge_base import KnowledgeBase
from ragstone.history.journal import Journal
from ragstone.learning.learner import Learner
from ragstone.learning.log import VoteRecord, write_vote
from ragstone.learning.observation import Observation

REFUSAL = Observation(abstained=True)
"""Refusals teach nothing about the confidence of answers."""


def cast(engine: KnowledgeBase, count: int, likes: Callable[[int], bool], *, decide: bool = True) -> None:
    """Write questions of forty users in turn, each with a vote on the version drawn, then evaluate."""
    with closing(Journal(engine.folder)) as journal:
        learner = Learner(journal, engine.settings)
        cast_into(learner, journal, count, likes)
        if decide:
            learner.evaluate(force=True)


def cast_into(
    learner: Learner,
    journal: Journal,
    count: int,
    likes: Callable[[int], bool],
    *,
    names: int = 40,
    seen: Observation = REFUSAL,
) -> None:
    """Write questions of users in turn, each with a vote on the version drawn."""
    for _ in range(count):
        asked = learner.log.position().assignments
        name, id = f"user{asked % names}", f"asked{asked}"
        version = learner.assign(id, kind="", asker=name).version
        voice, value = learner.log.voice(name), 1 if likes(version) else -1
        with journal.writing() as db:
            write_vote(db, VoteRecord(response_id=id, voice=voice, vote=value, at=learner.log.clock(), seen=seen))


@contextmanager
def learner_of(engine: KnowledgeBase) -> Iterator[Learner]:
    """Open a second learner on the log of an engine, after the evaluation in the background."""
    for thread in threading.enumerate():
        if thread.name == "ragstone-learning":
            thread.join()
    with closing(Journal(engine.folder)) as journal:
        yield Learner(journal, engine.settings)
