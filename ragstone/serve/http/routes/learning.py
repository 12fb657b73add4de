"""What administrators decide about learning: a trial of a change, and which policy is in use."""

from __future__ import annotations

import asyncio
from typing import Annotated

from pydantic import Field

from ragstone.core.errors import UsageError
from ragstone.learning.policy import Choices
from ragstone.serve.http import errors
from ragstone.serve.http.authentication import Administering, admin_router
from ragstone.serve.http.messages import Request
from ragstone.serve.http.service import Here

Why = Annotated[str, Field(max_length=1_000)]
Number = Annotated[float, Field(allow_inf_nan=False)]
Version = Annotated[int, Field(ge=0, le=10**9)]


# ---------------------------------------------------------------- messages
class TriedChoices(Request):
    """Choices of a policy. Null leaves one as it is."""

    web_threshold: Number | None = None
    relevance: Number | None = None
    factuality: Number | None = None
    completeness: Number | None = None
    retrieval_share: Number | None = None
    slope: Number | None = None
    shift: Number | None = None
    vector_weight: Number | None = None
    top_k: Annotated[int, Field(ge=1, le=100)] | None = None
    rerank: bool | None = None


class TrialRequest(Request):
    """A change to try on a part of the questions until votes decide."""

    choices: TriedChoices
    kind: Annotated[str, Field(max_length=100)] = Field(default="", description="only questions of this kind")
    why: Why = ""


class PolicyRequest(Request):
    """A policy to put in use, whatever the evidence says."""

    version: Version
    why: Why = ""


class RevertRequest(Request):
    """A policy to go back to."""

    version: Version | None = Field(default=None, description="the one before that in use, if not given")
    why: Why = ""


# ---------------------------------------------------------------- routes
router = admin_router("/learning")


@router.post("/trial", status_code=204, responses={**errors.CHANGING})
async def start_trial(body: TrialRequest, service: Here, caller: Administering) -> None:
    """Try a change on a part of the questions, until votes decide."""
    if not service.engine.learning.is_on:
        raise UsageError("nothing is learned, because the setting learning.mode is off; set it to gated first")
    choices = Choices(**body.choices.model_dump())
    await asyncio.to_thread(service.engine.learning.start_trial, {body.kind: choices}, body.why)
    told = ", ".join(f"{name}={value}" for name, value in choices.given().items())
    await service.noted(caller, "learning.try", f"{told} · {body.kind}" if body.kind else told)


@router.post("/promote", status_code=204, responses={**errors.CHANGING})
async def promote(body: PolicyRequest, service: Here, caller: Administering) -> None:
    """Put a policy in use; every server answers the next question under it."""
    await asyncio.to_thread(service.engine.learning.promote, body.version, body.why)
    await service.noted(caller, "learning.promote", f"version {body.version}")


@router.post("/revert", status_code=204, responses={**errors.CHANGING})
async def revert(body: RevertRequest, service: Here, caller: Administering) -> None:
    """Go back to a policy; a trial under way ends."""
    decision = await asyncio.to_thread(service.engine.learning.rollback, body.version, body.why)
    await service.noted(caller, "learning.revert", f"version {decision.champion}")
