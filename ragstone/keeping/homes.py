"""Where the catalog of a knowledge base is: in its folder, or in PostgreSQL, if the folder or the settings say so."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ragstone import index
from ragstone.config import Loaded, load
from ragstone.errors import SettingsMismatch
from ragstone.index.catalog.home import MARKER
from ragstone.index.files import read_json
from ragstone.sections import Settings


def home_at(folder: Path, overrides: Sequence[str] = (), preset: str | None = None) -> index.Home:
    """The home of a knowledge base, which need not be there yet.

    A folder remembers that its catalog is in PostgreSQL, and under which name; not the address, which is a secret.

    Raises:
        SettingsError: the catalog is in PostgreSQL, and no setting says where that is.
        MissingExtra: its client is not installed.
    """
    told = read_json(folder / MARKER).get("postgres")
    if not told and (folder / "CURRENT").exists():
        return index.Home(folder)
    settings = load(overrides, preset=preset).settings
    if not told and settings.index.catalog == "embedded":
        return index.Home(folder)
    return index.build_shared_home(folder, settings.services, str(told or settings.services.postgres.catalog))


def refuse_elsewhere(loaded: Loaded, home: index.Home) -> None:
    """Refuse settings that name another place for the catalog than where it is, or indexes that it cannot have.

    Raises:
        SettingsMismatch: with what to do.
    """
    own = loaded.settings.index
    named = loaded.explicit.get("index", {}).get("catalog")
    if home.is_shared:
        if named == "embedded":
            raise SettingsMismatch(
                f"the catalog of {home.folder} is in {home.place}; to have it in a folder: ragstone backup FOLDER"
            )
        refuse_outside(loaded.settings, home)
    elif own.catalog == "postgres":
        raise SettingsMismatch(
            f"the catalog of {home.folder} is in that folder; to move it: ragstone backup COPY --kb {home.folder},"
            " then, with index.catalog=postgres, ragstone restore COPY --kb ANOTHER"
        )


def refuse_outside(settings: Settings, home: index.Home) -> None:
    """Refuse engines outside beside a catalog of several hosts: only the host that indexes would bring them up.

    Raises:
        SettingsMismatch: with what to do.
    """
    own = settings.index
    if home.is_shared and (own.vectors, own.keywords) != ("embedded", "embedded"):
        raise SettingsMismatch(
            f"the catalog of {home.folder} is in {home.place}; with it go the embedded indexes of each host only:"
            " leave index.vectors and index.keywords at embedded"
        )
