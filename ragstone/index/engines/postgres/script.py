"""The SQL of the schema ``information_search`` as one script, made of numbered migrations.

A published migration is never edited; a new one is appended. The script does what a database lacks and nothing twice,
so it can be run on an empty one, an older one, and again.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from importlib.resources import files

SCHEMA = "information_search"
_NAME = re.compile(r"(\d{3})_(\w+)\.sql")
LOCK = 7_243_301_866
"""Number of the lock that keeps two from migrating at once; any number that others do not use."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Migration:
    version: int
    name: str
    sql: str


def migrations() -> list[Migration]:
    """All of them, in order."""
    found = list[Migration]()
    for file in (files("ragstone.index.engines.postgres") / "sql").iterdir():
        if named := _NAME.fullmatch(file.name):
            sql = file.read_text(encoding="utf-8")
            found.append(Migration(version=int(named[1]), name=named[2], sql=sql))
    return sorted(found, key=lambda one: one.version)


def script() -> str:
    """Everything as one transaction, for psql or any other client."""
    return f"BEGIN;\n\n{body()}\nCOMMIT;\n"


def body() -> str:
    """What stands between BEGIN and COMMIT."""
    known = migrations()
    return "\n".join([_PRELUDE.format(schema=SCHEMA, lock=LOCK, newest=known[-1].version), *map(_guarded, known)])


def _guarded(migration: Migration) -> str:
    return (
        f"-- {migration.version}: {migration.name}\n"
        "DO $migration$\nBEGIN\n"
        f"IF EXISTS (SELECT FROM {SCHEMA}.migrations WHERE version = {migration.version}) THEN RETURN; END IF;\n\n"
        f"{migration.sql.strip()}\n\n"
        f"INSERT INTO {SCHEMA}.migrations (version, name) VALUES ({migration.version}, '{migration.name}');\n"
        "END\n$migration$;\n"
    )


_PRELUDE = """\
-- Ragstone: documents that PostgreSQL searches by their words. May be run again; it does only what is missing.
SET LOCAL client_min_messages = warning;
SELECT pg_advisory_xact_lock({lock});
CREATE SCHEMA IF NOT EXISTS {schema};
CREATE TABLE IF NOT EXISTS {schema}.migrations (
    version    integer PRIMARY KEY,
    name       text NOT NULL,
    applied_at timestamptz NOT NULL DEFAULT now()
);
DO $migration$
BEGIN
IF EXISTS (SELECT FROM {schema}.migrations WHERE version > {newest}) THEN
    RAISE EXCEPTION 'the schema {schema} was made by a newer Ragstone' USING HINT = 'Install that one.';
END IF;
END
$migration$;
"""
