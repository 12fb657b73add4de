"""What is learned from opinions of answers, and how sure it must be."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from ragstone.services import Section


class LearningSettings(Section):
    """Learning changes settings of the question alone, in versions that are all kept. Other readers learn nothing."""

    mode: Literal["off", "shadow", "gated", "eager"] = Field(
        default="off",
        description="off: nothing is learned or applied; shadow: what would be tried is written down, and not done;"
        " gated: a change is tried on a part of the questions and kept when the evidence suffices; eager: a small"
        " step after every few opinions, proved or not",
    )
    every: int = Field(default=5, ge=1, description="opinions between two evaluations")
    holdout: float = Field(
        default=0.1, ge=0.01, le=0.5, description="share of questions that are answered by the settings as they are"
    )
    alpha: float = Field(
        default=0.05,
        gt=0,
        lt=0.5,
        description="how probable it may be that anything is ever promoted that is no better",
    )
    trim: float = Field(
        default=0.1, ge=0, le=0.4, description="share of users, the most influential, without whom evidence must do"
    )
    most: int = Field(default=5000, ge=10, description="opinions after which a trial ends undecided")
    per_hour: int = Field(default=120, ge=0, description="opinions that one voice may give in an hour; 0: any number")
