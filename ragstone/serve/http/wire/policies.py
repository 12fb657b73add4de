"""Messages of what was learned."""

from __future__ import annotations

from pydantic import Field

from ragstone.serve.http.wire.base import Response


class Policy(Response):
    """A version of what was learned."""

    version: int
    parent: int | None
    at: float = Field(description="seconds since 1970")
    changes: list[str] = Field(description="what it changes in the settings as they are")


class PolicyList(Response):
    """All versions."""

    in_use: int
    policies: list[Policy]


class TrialArm(Response):
    """One version in a trial, with its figures."""

    version: int
    share: float = Field(description="of the questions, that it is to answer")
    requests: int
    votes: int
    reward: float = Field(description="mean of a question: 1 for up, -1 for down, 0 for no vote")
    ups: float | None
    difference: float | None = Field(description="of the shares of up, from the version in use; null: too few votes")
    low: float | None
    high: float | None
    evidence: float | None = Field(description="promoted where it reaches the bar")
    bar: float | None
    needs: int | None = Field(description="votes more, if it goes on so; null where that is not known, or never")


class OnTrial(Response):
    """An arm of a trial, its role, and what it changes."""

    role: str
    changes: list[str]
    arm: TrialArm
    few: bool = Field(description="it or the version in use has too few votes for a difference to be told")


class EvidencePoint(Response):
    """The evidence for a challenger at one moment of a trial."""

    trial: str
    version: int
    evidence: float
    bar: float


class Moment(Response):
    """A decision."""

    number: int
    at: float
    action: str
    why: str
    champion: int
    votes: int
    points: list[EvidencePoint]


class Learned(Response):
    """How it stands with learning."""

    mode: str
    champion: int
    changes: list[str]
    trial: str
    why: str
    votes: int
    next_in: int
    arms: list[OnTrial]
    moments: list[Moment]
    cautions: list[str]
    trouble: str
