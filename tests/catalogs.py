"""Catalogs in PostgreSQL for tests: each in a schema of its own, in one database."""

from __future__ import annotations

from contextlib import closing
from functools import cache
from itertools import count

from ragstone.catalog.catalog import SqlCatalog
from ragstone.catalog.postgres.database import create_tables, open_catalog
from ragstone.services.postgres import Server
from servers.postgres_server import PostgresServer

_NUMBERS = count(1)


@cache
def _database(postgres: PostgresServer) -> str:
    return postgres.database("catalogs")


def connect(postgres: PostgresServer, schema: str) -> Server:
    return Server(postgres.settings(_database(postgres)), schema=schema)


def new_catalog(postgres: PostgresServer, built_with: dict | None = None) -> SqlCatalog:
    """An empty catalog."""
    schema = f"c{next(_NUMBERS)}"
    with closing(postgres.connect(_database(postgres))) as db:
        db.execute(f"DROP SCHEMA IF EXISTS {schema} CASCADE")  # pyright: ignore
        db.execute(f"CREATE SCHEMA {schema}")  # pyright: ignore
    server = connect(postgres, schema)
    with server.transaction() as db:
        create_tables(db, built_with or {})
    return open_catalog(server)
