"""The source of truth: documents, chunks and vectors, their versions and locks."""

from __future__ import annotations

from pathlib import Path

from ragstone.catalog.location import Location
from ragstone.settings.services import ServiceSettings


def build_shared_location(folder: Path, services: ServiceSettings, name: str) -> Location:
    """Return the location of a knowledge base whose catalog is in PostgreSQL.

    Raises:
        SettingsError: no setting says where the server is.
        MissingExtra: the client is not installed.
    """
    from ragstone.catalog.postgres.location import PostgresLocation

    return PostgresLocation(folder, services, name)
