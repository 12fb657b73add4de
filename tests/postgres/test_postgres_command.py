"""`ragstone postgres`: the script, applying it to what there may be, and what check finds."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import psycopg
import pytest

from ragstone.core.errors import EngineError, SettingsError
from ragstone.core.installation import install_command
from ragstone.index.engines.postgres import schema
from ragstone.index.engines.postgres.script import script
from ragstone.serve.cli.app import run
from ragstone.services.postgres import Server
from ragstone.settings.services import PostgresSettings
from servers.postgres_server import PostgresServer, programs

pytestmark = pytest.mark.usefixtures("workdir")


@pytest.fixture
def address(postgres: PostgresServer) -> str:
    return postgres.address(postgres.database("command"))


@pytest.fixture
def db(address: str) -> Iterator[psycopg.Connection]:
    with closing(psycopg.connect(address, autocommit=True)) as connection:
        yield connection


def test_it_is_applied_checked_and_applied_again(
    address: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert run(["postgres", "check", "--dsn", address]) == 1
    assert "ragstone postgres apply" in capsys.readouterr().out
    assert run(["postgres", "apply", "--dsn", address]) == 0
    assert "made the schema of version 1" in capsys.readouterr().out
    monkeypatch.setenv("DATABASE_URL", address)
    assert run(["postgres", "apply"]) == 0
    assert "there is already the schema of version 1" in capsys.readouterr().out
    assert run(["postgres", "check", "--json"]) == 0
    assert '"well": true' in capsys.readouterr().out


def test_the_script_can_be_run_by_another_program_and_again(address: str, db: psycopg.Connection) -> None:
    program = programs()
    assert program
    for _ in range(2):
        done = subprocess.run(
            [str(program / "psql"), "-X", "-q", "-v", "ON_ERROR_STOP=1", address],
            input=script().encode(),
            capture_output=True,
            check=False,
        )
        assert (done.returncode, done.stderr) == (0, b"")
    assert db.execute("SELECT version FROM information_search.about").fetchall() == [(1,)]
    with closing(Server(settings(address))) as server:
        assert all(one.well is not False for one in schema.check(server))


FORMER = """
CREATE SCHEMA information_search;
CREATE TABLE information_search.documents (
    id uuid PRIMARY KEY DEFAULT gen_random_uuid(), title text, url text, source_type text, embedding float4[],
    created_at timestamptz DEFAULT now()
);
CREATE TABLE information_search.document_chunks (
    id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
    document_id uuid REFERENCES information_search.documents (id), title text, chunk_content text
);
CREATE INDEX document_chunks_document ON information_search.document_chunks (document_id);
CREATE FUNCTION public.search_documents(
    query_text text, limit_val int DEFAULT 10, include_title_search boolean DEFAULT true, min_rank float DEFAULT 0.01
) RETURNS TABLE (id uuid, document_id uuid, title text, chunk_content text, rank real, url text, source_type text)
LANGUAGE sql AS $$
    SELECT id, document_id, title, chunk_content, 1::real, 'x', 'x' FROM information_search.document_chunks
$$;
INSERT INTO information_search.documents (id, title, url, source_type)
VALUES ('00000000-0000-0000-0000-000000000001', NULL, 'https://pola.example/', 'faq');
INSERT INTO information_search.document_chunks (document_id, title, chunk_content)
VALUES ('00000000-0000-0000-0000-000000000001', 'POLA kortelė', 'Kortelę išduoda asociacija.');
"""


@pytest.mark.parametrize("secured", ["", "documents", "document_chunks"])
def test_takes_over_tables_of_the_former_program(
    secured: str, address: str, db: psycopg.Connection, capsys: pytest.CaptureFixture[str]
) -> None:
    db.execute(FORMER)
    if secured:
        db.execute(f"ALTER TABLE information_search.{secured} ENABLE ROW LEVEL SECURITY".encode())
    assert run(["postgres", "apply", "--dsn", address]) == 0
    told = "took over 1 document; the former tables are in the schema information_search_former"
    assert told in capsys.readouterr().out
    found = db.execute("SELECT title, url, source_type FROM public.search_documents('POLA')").fetchall()
    assert found == [("POLA kortelė", "https://pola.example/", "faq")]
    assert db.execute("SELECT readers FROM information_search.documents").fetchall() == [([] if secured else None,)]
    assert db.execute("SELECT count(*) FROM information_search_former.document_chunks").fetchall() == [(1,)]
    assert run(["postgres", "check", "--dsn", address]) == 0
    assert run(["postgres", "apply", "--dsn", address]) == 0
    assert "there is already the schema" in capsys.readouterr().out


def test_refuses_two_sets_of_former_tables(address: str, db: psycopg.Connection) -> None:
    db.execute(FORMER)
    db.execute("CREATE SCHEMA information_search_former")
    assert run(["postgres", "apply", "--dsn", address]) == 1
    assert db.execute("SELECT count(*) FROM information_search.document_chunks").fetchall() == [(1,)]


def settings(address: str) -> PostgresSettings:
    return PostgresSettings.model_validate({"dsn": address})


def test_all_or_nothing(address: str, db: psycopg.Connection) -> None:
    """A function of the same name that gives something else cannot be replaced: then nothing is done."""
    db.execute(
        "CREATE FUNCTION public.search_documents(text, integer, boolean, double precision) RETURNS integer"
        " LANGUAGE sql AS 'SELECT 1'"
    )
    with closing(Server(settings(address))) as server:
        with pytest.raises(EngineError, match="cannot change return type"):
            schema.apply(server)
        assert db.execute("SELECT to_regnamespace('information_search')").fetchone() == (None,)
        assert not schema.check(server)[0].well


@pytest.mark.parametrize(
    "change", ["UPDATE information_search.about SET version = 2", "DROP TABLE information_search.about"]
)
def test_refuses_schema_of_another_version(address: str, db: psycopg.Connection, change: str) -> None:
    with closing(Server(settings(address))) as server:
        schema.apply(server)
        db.execute("INSERT INTO information_search.documents (title) VALUES ('kept')")
        db.execute(change.encode())
        with pytest.raises(EngineError, match="another version of Ragstone made"):
            schema.apply(server)
        assert not schema.check(server)[0].well
        assert db.execute("SELECT title FROM information_search.documents").fetchall() == [("kept",)]


def test_several_at_once_do_it_once(address: str) -> None:
    def applied(_: int) -> bool:
        with closing(Server(settings(address))) as server:
            return schema.apply(server).is_new

    with ThreadPoolExecutor(4) as threads:
        assert sorted(threads.map(applied, range(4))) == [False, False, False, True]


@pytest.mark.parametrize(
    ("harm", "told"),
    [
        ("DROP INDEX information_search.documents_title_terms", "indexes"),
        ("ALTER TABLE information_search.documents DISABLE ROW LEVEL SECURITY", "row-level security"),
        ("ALTER FUNCTION public.search_documents SECURITY DEFINER", "public.search_documents"),
        ("DROP FUNCTION public.test_search_function", "public.test_search_function"),
        (
            "CREATE OR REPLACE FUNCTION public.search_documents(query_text text, limit_val integer DEFAULT 10,"
            " include_title_search boolean DEFAULT true, min_rank double precision DEFAULT 0.01) RETURNS TABLE"
            " (id uuid, document_id uuid, title text, chunk_content text, rank real, url text,"
            " source_type text)"
            " LANGUAGE sql AS 'SELECT NULL::uuid, NULL::uuid, '''', '''', 1.0::real, '''', '''' LIMIT 1'",
            "an empty question",
        ),
    ],
    ids=["index", "security", "rights", "self-test", "empty question"],
)
def test_check_finds_what_is_wrong(address: str, db: psycopg.Connection, harm: str, told: str) -> None:
    with closing(Server(settings(address))) as server:
        schema.apply(server)
        assert all(one.well is not False for one in schema.check(server))
        db.execute(harm.encode())
        wrong = [one.what for one in schema.check(server) if not one.well]
        assert any(what.startswith(told) for what in wrong)


def test_an_address_is_needed_and_no_password_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["postgres", "check"]) == 2
    assert "DATABASE_URL" in capsys.readouterr().err
    assert run(["postgres", "check", "--dsn", "host=x passw0rd geheim"]) == 2
    assert "geheim" not in capsys.readouterr().err
    assert run(["postgres", "apply", "--dsn", "postgresql://me:geheim@127.0.0.1:1/x"]) == 1
    told = capsys.readouterr().err
    assert "PostgreSQL at 127.0.0.1:1" in told
    assert "geheim" not in told
    with pytest.raises(SettingsError):
        Server(PostgresSettings())


def test_the_script_needs_no_driver(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "psycopg", None)
    ours = ("ragstone.index.engines.postgres.", "ragstone.services.postgres")
    for name in [name for name in sys.modules if name.startswith(ours)]:
        monkeypatch.delitem(sys.modules, name)
    assert run(["postgres", "sql"]) == 0
    assert "CREATE OR REPLACE FUNCTION public.search_documents" in capsys.readouterr().out
    assert run(["postgres", "check", "--dsn", "postgresql://127.0.0.1:1/x"]) == 1
    assert install_command("postgres") in capsys.readouterr().err


def test_a_slow_statement_is_stopped_and_the_connection_serves_on(address: str) -> None:
    with closing(Server(settings(address), seconds=0.2)) as server:
        with pytest.raises(EngineError, match="took longer than"), server.transaction() as db:
            db.execute("SELECT pg_sleep(5)")
        with server.transaction() as db:
            assert db.execute("SELECT 1").fetchone() == (1,)
        with server.transaction(patient=True) as db:
            assert db.execute("SELECT 1 FROM pg_sleep(0.4)").fetchone() == (1,)


def test_a_server_that_was_killed_is_reached_again(postgres: PostgresServer) -> None:
    with closing(Server(postgres.settings())) as server:
        with server.transaction() as db:
            db.execute("SELECT 1")
        postgres.kill()
        with pytest.raises(EngineError), server.transaction() as db:
            db.execute("SELECT 1")
        postgres.start()
        with server.transaction() as db:
            assert db.execute("SELECT 1").fetchone() == (1,)
