"""Settings of learning from votes."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from ragstone.settings.services import Section


class LearningSettings(Section):
    """Learning changes settings of the question only, in versions that are all kept."""

    mode: Literal["off", "shadow", "gated", "eager"] = Field(
        default="off",
        description="`off` learns and applies nothing. `shadow` logs trials, and the version in use answers every"
        " question. `gated` tries a change on a part of the questions and keeps it when the evidence"
        " suffices. `eager` takes a small step after every five votes, without proof.",
    )
    per_hour: int = Field(default=120, ge=0, description="Votes that one voter may cast in an hour. 0 sets no limit.")
