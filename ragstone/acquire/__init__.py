"""Read sources into documents: files, folders, archives, web pages, and what lies on servers.

`sources` finds files, `remote` fetches what is elsewhere, `readers` turns a file into text, `metadata` derives facts
from the text, and `crawl` follows web sites.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ragstone.core.lazy_names import lazily

if TYPE_CHECKING:
    from ragstone.acquire.captions import Description, described
    from ragstone.acquire.metadata.groups import Given
    from ragstone.acquire.readers import left_out
    from ragstone.acquire.readers.tables.table_files import TableRow
    from ragstone.acquire.remote.listed import read_source
    from ragstone.acquire.remote.opening import connection_of, is_remote, is_site, on_disk, open_source
    from ragstone.acquire.sources.drawn import PageDrawer, is_drawn, reduced
    from ragstone.acquire.sources.files import count, files_of, folder, read, read_files, root
    from ragstone.acquire.sources.pages import Pages
    from ragstone.acquire.sources.shown_rows import has_rows, rows_near
    from ragstone.acquire.sources.stamps import is_unchanged, size_in
    from ragstone.acquire.sources.texts import read_given, refuse_unknown_kind

__all__ = [
    "Description",
    "Given",
    "PageDrawer",
    "Pages",
    "TableRow",
    "connection_of",
    "count",
    "described",
    "files_of",
    "folder",
    "has_rows",
    "is_drawn",
    "is_remote",
    "is_site",
    "is_unchanged",
    "left_out",
    "on_disk",
    "open_source",
    "read",
    "read_files",
    "read_given",
    "read_source",
    "reduced",
    "refuse_unknown_kind",
    "root",
    "rows_near",
    "size_in",
]

_HOMES = {
    "Description": "captions",
    "Given": "metadata.groups",
    "PageDrawer": "sources.drawn",
    "Pages": "sources.pages",
    "TableRow": "readers.tables.table_files",
    "connection_of": "remote.opening",
    "count": "sources.files",
    "described": "captions",
    "files_of": "sources.files",
    "folder": "sources.files",
    "has_rows": "sources.shown_rows",
    "is_drawn": "sources.drawn",
    "is_remote": "remote.opening",
    "is_site": "remote.opening",
    "is_unchanged": "sources.stamps",
    "left_out": "readers",
    "on_disk": "remote.opening",
    "open_source": "remote.opening",
    "read": "sources.files",
    "read_files": "sources.files",
    "read_given": "sources.texts",
    "read_source": "remote.listed",
    "reduced": "sources.drawn",
    "refuse_unknown_kind": "sources.texts",
    "root": "sources.files",
    "rows_near": "sources.shown_rows",
    "size_in": "sources.stamps",
}

# Answering a question, and the parser process, need few of these modules.
__getattr__ = lazily(__name__, _HOMES)
