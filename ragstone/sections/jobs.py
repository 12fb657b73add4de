"""How work is handed to workers."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from ragstone.services import Section

QueueName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]{0,62}$")]


class JobSettings(Section):
    """Jobs that any number of worker processes take."""

    queue: Literal["journal", "postgres"] = Field(
        default="journal",
        description="where jobs are kept: in the journal of the knowledge base, or, for workers on several machines,"
        " in PostgreSQL (services.postgres.dsn)",
    )
    name: QueueName = Field(
        default="ragstone", description="name of the queue in PostgreSQL; every knowledge base needs one of its own"
    )
    files: int = Field(default=50, ge=1, description="most files of one job")
    megabytes: float = Field(default=10.0, gt=0, description="a job takes no further file from so much on")
    lease_seconds: float = Field(
        default=60.0, ge=1, description="a worker that gave no sign for so long is gone, and its job is another's"
    )
    tries: int = Field(default=5, ge=1, description="how often a job is begun at most, if its worker ends or it fails")
