"""The SQL of the schema ``information_search`` as one script, which can be run again and then changes nothing."""

from __future__ import annotations

from importlib.resources import files

SCHEMA = "information_search"
VERSION = 1
LOCK = 7_243_301_866
"""Number of the lock that keeps two scripts from running at once; any number that others do not use."""


def script() -> str:
    """Return the script as one transaction, for psql or any other client."""
    return f"BEGIN;\n\n{body()}\nCOMMIT;\n"


def body() -> str:
    """Return the script without BEGIN and COMMIT."""
    definitions = (files("ragstone.index.engines.postgres") / "documents.sql").read_text(encoding="utf-8").strip()
    return _BODY.format(schema=SCHEMA, lock=LOCK, version=VERSION).replace("DEFINITIONS", definitions)


_BODY = """\
-- Ragstone: documents that PostgreSQL searches by their words. Running it again changes nothing.
SET LOCAL client_min_messages = warning;
SELECT pg_advisory_xact_lock({lock});
CREATE SCHEMA IF NOT EXISTS {schema};
DO $script$
DECLARE
    stored integer;
BEGIN
IF to_regclass('{schema}.documents') IS NOT NULL THEN
    IF to_regclass('{schema}.about') IS NOT NULL THEN
        SELECT version INTO stored FROM {schema}.about;
    END IF;
    IF stored IS DISTINCT FROM {version} THEN
        RAISE EXCEPTION 'another version of Ragstone made the schema {schema}; it is unchanged'
            USING HINT = 'Use that version, or drop the schema, run the script and add the documents again.';
    END IF;
    RETURN;
END IF;

DEFINITIONS

CREATE TABLE {schema}.about (version integer NOT NULL);
INSERT INTO {schema}.about VALUES ({version});
END
$script$;
"""
