"""What became of a question, where more than one voted on its answer."""

from __future__ import annotations

from ragstone.policies.log import Assigned, Voted, outcome_of

ASKED = Assigned(response_id="r", trial=1, version=1, probability=0.45, acted=1, kind="question", voice="asker", at=1.0)


def vote(voice: str, said: int, at: float) -> Voted:
    return Voted(response_id="r", voice=voice, vote=said, at=at)


def test_the_vote_of_who_asked_counts_whoever_else_voted() -> None:
    found = outcome_of(ASKED, [vote("liar", -1, 2), vote("other liar", -1, 3), vote("asker", 1, 4)])
    assert (found.voice, found.vote, found.at) == ("asker", 1, 4)


def test_of_others_the_first_speaks_for_itself_and_nobody_for_another() -> None:
    """Were it the most of them under the first one's name, two colluders would vote as somebody who does not."""
    found = outcome_of(ASKED, [vote("honest", 1, 2), vote("liar", -1, 3), vote("other liar", -1, 4)])
    assert (found.voice, found.vote, found.at) == ("honest", 1, 2)


def test_where_nobody_voted_it_is_who_asked_and_when() -> None:
    found = outcome_of(ASKED, [])
    assert (found.voice, found.vote, found.at, found.version, found.probability) == ("asker", 0, 1.0, 1, 0.45)
