"""Routes of what was learned: for administrators, to be looked at; changed it is at the command line."""

from __future__ import annotations

import asyncio
from dataclasses import asdict

from fastapi import APIRouter

from ragstone.serve.http import wire_errors
from ragstone.serve.http.door import Administering
from ragstone.serve.http.service import Here
from ragstone.serve.http.wire import policies as wire

router = APIRouter(tags=["service"])


@router.get("/policies", responses={**wire_errors.reading})
async def policies(service: Here, caller: Administering) -> wire.PolicyList:
    """Every version of what was learned; version 0 is the settings as they are."""
    del caller
    engine = service.engine
    found = await asyncio.to_thread(engine.policies)
    now = await asyncio.to_thread(engine.learned)
    shown = [
        wire.Policy(version=one.version, parent=one.parent, at=one.at, changes=list(engine.policy_changes(one.version)))
        for one in found
    ]
    return wire.PolicyList(in_use=now.champion, policies=shown)


@router.get("/policies/explain", responses={**wire_errors.reading})
async def explain_policies(service: Here, caller: Administering) -> wire.Learned:
    """What is in use, what is tried, how far the evidence is, and what was decided when and why."""
    del caller
    return wire.Learned.model_validate(asdict(await asyncio.to_thread(service.engine.learned)))
