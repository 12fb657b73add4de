"""The progress of a crawl, in an SQLite file, so that it survives an interruption at any moment.

A run visits each URL at most once. It is closed when nothing is left to visit. The next call begins a new run; a call
after an interruption continues the old one. A page is *settled* when its documents are stored. A page that was fetched
but not settled is fetched again.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from ragstone.acquire.crawl.urls import Address
from ragstone.core.errors import Damaged, SourceError
from ragstone.core.frozen import frozen
from ragstone.core.traces import Traces
from ragstone.storage.sqlite import Failed, compact, connect_private, is_damage, reason_of, transaction

_VERSION = 1
_SCHEMA = """
CREATE TABLE crawl (run INTEGER NOT NULL, forced INTEGER NOT NULL, closed INTEGER NOT NULL);
INSERT INTO crawl VALUES (0, 0, 1);
CREATE TABLE page (
    number INTEGER PRIMARY KEY,
    url TEXT NOT NULL UNIQUE,
    bare TEXT NOT NULL,                    -- the URL without its query
    depth INTEGER NOT NULL,                -- links from the start
    hops INTEGER NOT NULL DEFAULT 0,       -- redirects that led here
    seen INTEGER NOT NULL,                 -- the last run that is to visit it
    done INTEGER NOT NULL DEFAULT 0,       -- the last run that visited it
    outcome TEXT NOT NULL DEFAULT '',      -- page, redirect, canonical, duplicate, gone or skipped
    target TEXT NOT NULL DEFAULT '',       -- its redirect target, its canonical URL, or the page that it duplicates
    alone INTEGER NOT NULL DEFAULT 0,      -- a page of its own: its canonical URL, the target, holds no page
    etag TEXT NOT NULL DEFAULT '',
    modified TEXT NOT NULL DEFAULT '',
    digest TEXT NOT NULL DEFAULT '',
    links TEXT NOT NULL DEFAULT '[]',
    settled INTEGER NOT NULL DEFAULT 1,
    documents TEXT                         -- ids of its stored documents; NULL if there are none
);
CREATE INDEX waiting ON page (seen, done, depth, number);
CREATE INDEX bare ON page (bare, seen);
CREATE INDEX digest ON page (digest);
CREATE INDEX target ON page (target);
"""


@frozen
class Row:
    """A URL and what is known about it. ``done``: this run has visited it."""

    url: str
    depth: int
    hops: int
    outcome: str
    target: str
    alone: bool
    etag: str
    modified: str
    digest: str
    links: tuple[str, ...]
    settled: bool
    documents: tuple[str, ...]
    done: bool

    @property
    def stored(self) -> bool:
        return bool(self.documents)


@frozen
class Visit:
    """The result of a visit. ``settled``: it leaves nothing to store or remove."""

    outcome: str
    target: str = ""
    etag: str = ""
    modified: str = ""
    digest: str = ""
    links: Sequence[str] = ()
    settled: bool = True


class State:
    """The URLs of one site. The caller makes sure that only one crawl uses it at a time.

    Raises:
        SourceError: the file cannot be opened.
        Damaged: the file is damaged, or no crawl state.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._db = connect_private(path)
        except Failed as error:
            raise SourceError(f"{path} cannot be opened: {reason_of(error, path)}") from error
        self._db.row_factory = sqlite3.Row
        try:
            self._prepare()
        except Failed as error:
            self.close()
            if not is_damage(error):
                raise SourceError(f"{path} cannot be opened: {reason_of(error, path)}") from error
            raise Damaged(f"{path} is damaged ({error}); remove it to crawl the site from the start") from error
        self.run = 0
        self.visited = self.found = 0

    def close(self) -> None:
        self._db.close()

    def _prepare(self) -> None:
        self._db.execute("PRAGMA journal_mode = WAL")
        self._db.execute("PRAGMA synchronous = NORMAL")
        version = self._one("PRAGMA user_version")
        if version == 0:
            self._db.executescript(f"BEGIN; {_SCHEMA} PRAGMA user_version = {_VERSION}; COMMIT;")
        elif version != _VERSION:
            self.close()
            raise Damaged(
                f"{self._path} was written by another version of Ragstone; remove it to crawl the site from the start"
            )

    def begin(self, *, force: bool) -> None:
        """Begin a run, or continue the one that was interrupted.

        A new run visits all pages with stored documents, even if no link leads there any more.
        """
        run, forced, closed = self._db.execute("SELECT run, forced, closed FROM crawl").fetchone()
        with transaction(self._db):
            if closed or bool(forced) != force:
                run += 1
                self._db.execute("UPDATE crawl SET run = ?, forced = ?, closed = 0", [run, force])
                self._db.execute("UPDATE page SET seen = ?, hops = 0 WHERE documents IS NOT NULL", [run])
            else:
                self._db.execute("UPDATE page SET done = 0 WHERE done = ? AND NOT settled", [run])
        self.run = run
        self.visited = self._one("SELECT count(*) FROM page WHERE done = ?", run)
        self.found = self._one("SELECT count(*) FROM page WHERE seen = ?", run)

    def finish(self) -> None:
        """Close the run and forget the URLs that it did not find."""
        with transaction(self._db):
            self._db.execute("DELETE FROM page WHERE seen < ? AND documents IS NULL", [self.run])
            self._db.execute("UPDATE crawl SET closed = 1")

    def add(self, address: Address, depth: int, hops: int = 0) -> None:
        """Add a URL to visit in this run, unless the run knows it."""
        changed = self._db.execute(
            "INSERT INTO page (url, bare, depth, hops, seen) VALUES (?, ?, ?, ?, ?) ON CONFLICT (url) DO UPDATE "
            "SET depth = excluded.depth, hops = excluded.hops, seen = excluded.seen WHERE seen < excluded.seen",
            [str(address), address.origin + address.path, depth, hops, self.run],
        )
        self.found += changed.rowcount

    def queries(self, address: Address) -> int:
        """Return how many URLs of this run differ from this one only in the query."""
        bare = address.origin + address.path
        return self._one("SELECT count(*) FROM page WHERE bare = ? AND seen = ? AND url <> bare", bare, self.run)

    def next(self, busy: Iterable[str] = ()) -> Row | None:
        """Return the next URL to visit that is not ``busy``: nearest to the start, then first found."""
        row = self._db.execute(
            "SELECT * FROM page WHERE seen = ? AND done < ? AND url NOT IN (SELECT value FROM json_each(?)) "
            "ORDER BY depth, number LIMIT 1",
            [self.run, self.run, json.dumps(list(busy))],
        ).fetchone()
        return self._row(row) if row else None

    def waiting(self) -> int:
        return self._one("SELECT count(*) FROM page WHERE seen = ? AND done < ?", self.run, self.run)

    def get(self, url: str) -> Row | None:
        found = self._db.execute("SELECT * FROM page WHERE url = ?", [url]).fetchone()
        return self._row(found) if found else None

    def leads_to(self, url: str, goal: str, by: Sequence[str] = ("redirect", "canonical")) -> bool:
        """Return whether the redirects and canonical links of this run lead from one URL to another."""
        passed: set[str] = set()
        while url != goal:
            row = self.get(url)
            if url in passed or row is None or not row.done or row.outcome not in by:
                return False
            passed.add(url)
            url = row.target
        return True

    def twin(self, digest: str, url: str) -> str:
        """Return the URL of another page with the same content; empty if there is none."""
        row = self._db.execute(
            "SELECT url FROM page WHERE digest = ? AND outcome = 'page' AND seen = ? AND url <> ? LIMIT 1",
            [digest, self.run, url],
        ).fetchone()
        return row[0] if row else ""

    def repeated(self) -> int:
        """Return how many visited pages of this run repeat another page and have links that were followed."""
        query = "SELECT count(*) FROM page WHERE outcome = 'duplicate' AND done = ? AND links <> '[]'"
        return self._one(query, self.run)

    def record(self, url: str, visit: Visit) -> None:
        """Record the result of a visit. The ids of the stored documents stay until the page is settled.

        If its content is another now, pages that repeated it are visited again: it may have moved to one of them.
        """
        self.visited += 1
        self._db.execute(
            "UPDATE page SET done = 0 WHERE target = ? AND done = ? AND outcome = 'duplicate' "
            "AND (SELECT digest FROM page WHERE url = ?) <> ?",
            [url, self.run, url, visit.digest],
        )
        self._db.execute(
            "UPDATE page SET done = ?, outcome = ?, target = ?, etag = ?, modified = ?, digest = ?, links = ?, "
            "settled = ? WHERE url = ?",
            (
                *(self.run, visit.outcome, visit.target, visit.etag, visit.modified, visit.digest),
                *(json.dumps(list(visit.links)), visit.settled, url),
            ),
        )

    def keep(self, url: str) -> None:
        """Record a visit that changed nothing."""
        self.visited += 1
        self._db.execute("UPDATE page SET done = ? WHERE url = ?", [self.run, url])

    def reclaim(self, url: str) -> None:
        """Visit pages again whose canonical link leads to this URL, because it holds no page."""
        failed, passed = [url], set[str]()
        while failed:
            url = failed.pop()
            if url not in passed:
                passed.add(url)
                query = "SELECT url FROM page WHERE target = ? AND done = ? AND outcome = 'redirect'"
                failed += [row[0] for row in self._db.execute(query, [url, self.run])]
                self._db.execute(
                    "UPDATE page SET done = 0, alone = 1, etag = '', modified = '' "
                    "WHERE target = ? AND done = ? AND outcome = 'canonical'",
                    [url, self.run],
                )

    def claim(self, url: str) -> None:
        """Visit pages again that count as pages of their own, but whose canonical URL this is: it now holds a page."""
        self._db.execute(
            "UPDATE page SET done = 0, alone = 0, etag = '', modified = '', digest = '' WHERE target = ? AND alone = 1",
            [url],
        )

    def settle(self, stored: Iterable[tuple[str, Sequence[str]]]) -> None:
        """Record that these pages are stored as these documents; a page without any is no longer stored."""
        with transaction(self._db):
            self._db.executemany(
                "UPDATE page SET settled = 1, documents = ? WHERE url = ?",
                [(json.dumps(list(ids)) if ids else None, url) for url, ids in stored],
            )

    def erase(self, traces: Traces) -> None:
        """Forget the pages that have traces of documents, and the links to them."""
        with transaction(self._db):
            pages = self._db.execute("SELECT number, url, target, documents, links FROM page").fetchall()
            for number, url, target, documents, links in pages:
                if any(map(traces.is_in, (url, target, *json.loads(documents or "[]")))):
                    self._db.execute("DELETE FROM page WHERE number = ?", [number])
                    continue
                kept = json.dumps([link for link in json.loads(links) if not traces.is_in(link)])
                self._db.execute("UPDATE page SET links = ? WHERE number = ?", [kept, number])
        compact(self._db)

    def _one(self, query: str, *values: Any) -> int:
        return self._db.execute(query, values).fetchone()[0]

    def _row(self, stored: sqlite3.Row) -> Row:
        return Row(
            url=stored["url"],
            depth=stored["depth"],
            hops=stored["hops"],
            outcome=stored["outcome"],
            target=stored["target"],
            alone=bool(stored["alone"]),
            etag=stored["etag"],
            modified=stored["modified"],
            digest=stored["digest"],
            links=tuple(json.loads(stored["links"])),
            settled=bool(stored["settled"]),
            documents=tuple(json.loads(stored["documents"] or "[]")),
            done=stored["done"] == self.run,
        )
