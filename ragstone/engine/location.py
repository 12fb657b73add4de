"""Locate the catalog of a knowledge base: in its folder, or in PostgreSQL if the folder or the settings say so."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ragstone.catalog import build_shared_location
from ragstone.catalog.folder_location import FolderLocation
from ragstone.catalog.location import MARKER, Location
from ragstone.core.errors import SettingsMismatch
from ragstone.history.journal import Journal
from ragstone.history.store import JournalStore
from ragstone.settings import Settings
from ragstone.settings.load import Loaded, load
from ragstone.storage.files import read_json

SHARED_ENGINES = ("embedded", "postgres", "qdrant")
"""Engines for a catalog that several hosts share: servers that all can reach, or files that each host builds."""


def home_at(folder: Path, overrides: Sequence[str] = (), preset: str | None = None) -> Location:
    """Return the location of a knowledge base, which need not exist yet.

    A folder records that its catalog is in PostgreSQL, and its name, but not the address, which is a secret.

    Raises:
        SettingsError: the catalog is in PostgreSQL, and no setting has its address.
        MissingExtra: its client is not installed.
    """
    name = read_json(folder / MARKER).get("postgres")
    if not name and (folder / "CURRENT").exists():
        return FolderLocation(folder)
    # Only the catalog of an existing knowledge base knows its preset, and therefore its profiles.
    settings = load(overrides, preset=preset, with_profile=not name).settings
    if not name and settings.index.catalog == "embedded":
        return FolderLocation(folder)
    return build_shared_location(folder, settings.services, str(name or settings.services.postgres.catalog))


def open_journal(location: Location) -> JournalStore:
    """Return the journal of a knowledge base: next to its catalog, so that all hosts share both."""
    shared = location.server("journal")
    if shared is None:
        return Journal(location.folder)
    from ragstone.history.postgres_journal import PostgresJournal

    return PostgresJournal(*shared, location.folder)


def refuse_elsewhere(loaded: Loaded, home: Location) -> None:
    """Refuse settings with another place for the catalog, or with indexes that it cannot use.

    Raises:
        SettingsMismatch: with what to do.
    """
    named = loaded.explicit.get("index", {}).get("catalog")
    if home.is_shared:
        if named == "embedded":
            raise SettingsMismatch(
                f"the catalog of {home.folder} is in {home.address}; to have it in a folder, run:"
                " ragstone backup FOLDER"
            )
        refuse_external(loaded.settings, home)
    elif loaded.settings.index.catalog == "postgres":
        raise SettingsMismatch(
            f"the catalog of {home.folder} is in that folder; to move it, run: ragstone backup COPY --kb {home.folder},"
            " then, with index.catalog=postgres, ragstone restore COPY --kb ANOTHER"
        )


def refuse_external(settings: Settings, home: Location) -> None:
    """Refuse engines in files of one host with a catalog that several hosts share: only one host would update them.

    Raises:
        SettingsMismatch: with what to do.
    """
    own = settings.index
    if home.is_shared and (own.vectors not in SHARED_ENGINES or own.keywords not in SHARED_ENGINES):
        raise SettingsMismatch(
            f"the catalog of {home.folder} is in {home.address}, and all hosts must reach its indexes: set"
            f" index.vectors and index.keywords to one of {', '.join(SHARED_ENGINES)}"
        )
