"""What all routes share: the engine, the settings, and what is known of who asks."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated

from fastapi import Depends, Request

from ragstone.engine import Engine
from ragstone.sections import ServeSettings
from ragstone.serve.http.door import Door
from ragstone.serve.http.jobs import Jobs
from ragstone.serve.http.metrics import Metrics
from ragstone.serve.http.turns import Turns
from ragstone.usage.keys import Keys


@dataclass(slots=True, kw_only=True)
class Service:
    """One running server. ``is_ready`` becomes true when a question would not wait for models to load.

    ``keys`` are for what keys cost; the door has a connection of its own, which nobody who writes keeps waiting.
    """

    engine: Engine
    settings: ServeSettings
    door: Door
    keys: Keys
    turns: Turns
    jobs: Jobs
    metrics: Metrics = field(default_factory=Metrics)
    is_ready: bool = False


async def _service(request: Request) -> Service:
    return request.app.state.service


Here = Annotated[Service, Depends(_service)]
"""A parameter of a route that wants the `Service`."""
