"""Settings of learning from votes."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from ragstone.settings.services import Section


class LearningSettings(Section):
    """Learning changes settings of the question only, in versions that are all kept."""

    mode: Literal["off", "shadow", "gated", "eager"] = Field(
        default="off",
        description="off: nothing is learned or applied; shadow: trials are logged, and the version in use answers"
        " every question; gated: a change is tried on a part of the questions and kept when the evidence suffices;"
        " eager: a small step after every five votes, without proof",
    )
    per_hour: int = Field(default=120, ge=0, description="votes that one voice may give in an hour; 0: no limit")
