"""Read sources into documents: files, folders, archives and web pages.

`sources` finds files, `readers` turns a file into text, `metadata` derives facts from the text, and `crawl` follows web
sites.
"""

from __future__ import annotations

from ragstone.acquire.metadata.groups import with_groups
from ragstone.acquire.readers import left_out
from ragstone.acquire.sources.drawn import PageDrawer, is_drawn
from ragstone.acquire.sources.files import count, files_of, is_unchanged, read, read_files, root, size_in
from ragstone.acquire.sources.pages import Pages

__all__ = [
    "PageDrawer",
    "Pages",
    "count",
    "files_of",
    "is_drawn",
    "is_unchanged",
    "left_out",
    "read",
    "read_files",
    "root",
    "size_in",
    "with_groups",
]
