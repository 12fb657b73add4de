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
    filled = _BODY.format(schema=SCHEMA, lock=LOCK, version=VERSION, is_former=IS_FORMER)
    return filled.replace("DEFINITIONS", definitions)


IS_FORMER = f"""\
to_regclass('{SCHEMA}.document_chunks') IS NOT NULL AND to_regclass('{SCHEMA}.about') IS NULL AND EXISTS (
    SELECT FROM pg_attribute WHERE attrelid = to_regclass('{SCHEMA}.document_chunks') AND attname = 'title'
)"""
"""Whether the tables are those of the program whose search this one replaces: its chunks have titles."""
_BODY = """\
-- Ragstone: documents that PostgreSQL searches by their words. Running it again changes nothing.
SET LOCAL client_min_messages = warning;
SELECT pg_advisory_xact_lock({lock});
CREATE SCHEMA IF NOT EXISTS {schema};
DO $script$
DECLARE
    stored integer;
    hidden boolean := false;
    former boolean := false;
BEGIN
IF {is_former} THEN
    IF to_regnamespace('{schema}_former') IS NOT NULL THEN
        RAISE EXCEPTION 'both {schema} and {schema}_former are schemas of another program; they are unchanged'
            USING HINT = 'Rename or drop one of them, then run the script again.';
    END IF;
    former := true;
    SELECT bool_or(relrowsecurity) INTO hidden FROM pg_class
    WHERE oid IN ('{schema}.documents'::regclass, '{schema}.document_chunks'::regclass);
    ALTER SCHEMA {schema} RENAME TO {schema}_former;
    CREATE SCHEMA {schema};
    -- Functions cannot change what they return. These keep reading the tables by name, which are the new ones.
    IF to_regprocedure('public.search_documents(text,integer,boolean,double precision)') IS NOT NULL THEN
        ALTER FUNCTION public.search_documents(text, integer, boolean, double precision) SET SCHEMA {schema}_former;
    END IF;
    IF to_regprocedure('public.search_documents(text,integer,boolean,real)') IS NOT NULL THEN
        ALTER FUNCTION public.search_documents(text, integer, boolean, real) SET SCHEMA {schema}_former;
    END IF;
    IF to_regprocedure('public.test_search_function(text)') IS NOT NULL THEN
        ALTER FUNCTION public.test_search_function(text) SET SCHEMA {schema}_former;
    END IF;
ELSIF to_regclass('{schema}.documents') IS NOT NULL THEN
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

-- The rows of another program's tables, which stay as they were under another name. Its own rules of who may read what
-- are unknown here, so that if there were any, only the owner reads its documents.
IF former THEN
    INSERT INTO {schema}.documents (id, title, url, source_type, readers, metadata, created_at)
    SELECT (d ->> 'id')::uuid,
           coalesce(d ->> 'title', (
               SELECT min(c.title) FROM {schema}_former.document_chunks AS c WHERE c.document_id = (d ->> 'id')::uuid
           ), ''),
           coalesce(d ->> 'url', ''),
           coalesce(d ->> 'source_type', ''),
           CASE WHEN hidden THEN '{{}}'::text[] END,
           CASE WHEN jsonb_typeof(d -> 'metadata') = 'object' THEN d -> 'metadata' ELSE '{{}}' END,
           coalesce((d ->> 'created_at')::timestamptz, now())
    FROM (SELECT to_jsonb(one) AS d FROM {schema}_former.documents AS one) AS former_documents;
    INSERT INTO {schema}.document_chunks (id, document_id, chunk_index, chunk_content, created_at)
    SELECT (c ->> 'id')::uuid,
           (c ->> 'document_id')::uuid,
           coalesce((c ->> 'chunk_index')::integer, 0),
           c ->> 'chunk_content',
           coalesce((c ->> 'created_at')::timestamptz, now())
    FROM (SELECT to_jsonb(one) AS c FROM {schema}_former.document_chunks AS one) AS former_chunks;
END IF;
END
$script$;
"""
