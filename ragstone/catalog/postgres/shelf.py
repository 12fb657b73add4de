"""Small records of a knowledge base on its catalog's server, so that all hosts read the same."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from ragstone.catalog.postgres.lock import reaching_catalog
from ragstone.core.errors import EngineError
from ragstone.services.postgres import Server, is_missing


class PostgresShelf:
    """The table ``records`` of a knowledge base, as a `ragstone.storage.shelf.Shelf`. The first write creates it."""

    def __init__(self, server: Server) -> None:
        """Take the connections to the schema that has the pointers to the versions."""
        self._server = server

    def read(self, name: str) -> dict[str, Any]:
        found = self._rows("SELECT record FROM records WHERE name = %s", name)
        return found[0][0] if found else {}

    def write(self, name: str, record: dict[str, Any]) -> None:
        with reaching_catalog(), self._server.transaction() as db:
            if db.execute("SELECT to_regclass('records')").fetchone() == (None,):
                db.execute("CREATE TABLE IF NOT EXISTS records (name text PRIMARY KEY, record jsonb NOT NULL)")
            sql = "INSERT INTO records VALUES (%s, %s) ON CONFLICT (name) DO UPDATE SET record = excluded.record"
            db.execute(sql, [name, json.dumps(record)])

    def of_versions(self, name: str) -> Iterator[dict[str, Any]]:
        sql = r"SELECT record FROM records WHERE name LIKE 'v%%' AND name LIKE '%%/' || %s"
        return iter([record for (record,) in self._rows(sql, name)])

    def in_use(self) -> str:
        found = self._rows("SELECT version FROM pointers WHERE pointer = %s", "CURRENT")
        return f"v{found[0][0]}" if found else ""

    def _rows(self, sql: str, value: str) -> list[Any]:
        with reaching_catalog():
            try:
                return self._server.rows(sql, [value])
            except EngineError as error:
                if is_missing(error):
                    return []
                raise
