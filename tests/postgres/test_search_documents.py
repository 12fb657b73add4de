"""`search_documents`, asked as another program would: ranks, limits, and texts that try to be more than texts."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import psycopg
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from ragstone.index.engines.postgres import schema
from ragstone.services.postgres import Server
from servers.postgres_server import PostgresServer

WORDS = st.sampled_from(["pola", "kortelė", "Kortelę", "kaip", "gauti", "x1", "ąžuolas", "2024"])
INVALID = psycopg.errors.InvalidParameterValue


@pytest.fixture(scope="module")
def db(postgres: PostgresServer) -> Iterator[psycopg.Connection]:
    name = postgres.database("documents")
    with closing(Server(postgres.settings(name))) as server:
        schema.apply(server)
    with closing(postgres.connect(name)) as connection:
        yield connection


@pytest.fixture(autouse=True)
def empty(db: psycopg.Connection) -> None:
    clear(db)


def clear(db: psycopg.Connection) -> None:
    db.execute("TRUNCATE information_search.documents CASCADE")


def put(db: psycopg.Connection, title: str, *texts: str, **columns: Any) -> uuid.UUID:
    names = ["title", *columns]
    sql = (
        f"INSERT INTO information_search.documents ({', '.join(names)})"  # noqa: S608
        f" VALUES ({', '.join(['%s'] * len(names))}) RETURNING id"
    )
    found = db.execute(sql, [title, *columns.values()]).fetchone()  # pyright: ignore
    assert found
    for place, text in enumerate(texts):
        db.execute(
            "INSERT INTO information_search.document_chunks (document_id, chunk_index, chunk_content)"
            " VALUES (%s, %s, %s)",
            [found[0], place, text],
        )
    return found[0]


def search(db: psycopg.Connection, *values: Any) -> list[Any]:
    sql = f"SELECT * FROM public.search_documents({', '.join(['%s'] * len(values))})"  # noqa: S608
    return db.execute(sql, values).fetchall()  # pyright: ignore


def test_a_row_has_what_callers_expect(db: psycopg.Connection) -> None:
    document = put(db, "Kortelė", "Kur gauti POLA kortelę?", url="https://pola.lt/a", source_type="web")
    cursor = db.execute("SELECT * FROM public.search_documents(query_text => 'pola')")
    assert [column.name for column in cursor.description or ()] == [
        "id",
        "document_id",
        "title",
        "chunk_content",
        "rank",
        "url",
        "source_type",
    ]
    ((id, found, title, text, rank, url, kind),) = cursor.fetchall()
    assert isinstance(id, uuid.UUID)
    assert (found, title, text) == (document, "Kortelė", "Kur gauti POLA kortelę?")
    assert (url, kind) == ("https://pola.lt/a", "web")
    assert 0.01 <= rank < 1


def test_a_rank_is_a_real_number_of_postgresql(db: psycopg.Connection) -> None:
    put(db, "Kortelė", "Kur gauti POLA kortelę?")
    kinds = db.execute("SELECT pg_typeof(rank)::text FROM public.search_documents('pola')").fetchall()
    assert kinds == [("real",)]


def test_the_self_test_fails_if_a_stored_text_is_not_found(db: psycopg.Connection) -> None:
    def told() -> bool | None:
        checks = db.execute("SELECT check_name, passed FROM public.test_search_function('POLA')").fetchall()
        return {str(name): passed for name, passed in checks}["what is stored is found"]  # pyright: ignore

    assert told() is None
    put(db, "Kortelė", "Kur gauti POLA kortelę?")
    assert told() is True
    with db.transaction(force_rollback=True):
        db.execute(
            "CREATE OR REPLACE FUNCTION information_search.terms(configuration text, content text) RETURNS tsvector"
            " LANGUAGE sql IMMUTABLE AS 'SELECT ''zzz:1''::tsvector'"
        )
        put(db, "Kita", "Kur rasti reabilitaciją?")
        assert told() is False
    assert told() is True


@settings(max_examples=25)
@given(words=st.lists(WORDS, min_size=1, max_size=4), others=st.integers(0, 5))
def test_words_in_a_title_rank_one_and_a_half_times_those_in_a_text(
    db: psycopg.Connection, words: list[str], others: int
) -> None:
    clear(db)
    text = " ".join(words)
    by_title, by_text = put(db, text, "nothing of it", "nor here"), put(db, "other", text)
    for _ in range(others):
        put(db, "other", "of no interest")
    rank = {(row[1], row[3]): row[4] for row in search(db, text, 100, True, 0.0)}
    assert rank[by_title, "nor here"] == pytest.approx(1.5 * rank[by_text, text], rel=1e-6)
    assert list(rank.values()) == sorted(rank.values(), reverse=True)
    assert {document for document, _ in rank} == {by_title, by_text}
    assert {row[1] for row in search(db, text, 100, False, 0.0)} == {by_text}
    least = rank[by_text, text] * 1.01
    assert {row[1] for row in search(db, text, 100, True, least)} == {by_title}
    assert search(db, text, 100, False, least) == []
    assert len(search(db, text, 1)) == 1


def test_a_chunk_that_says_it_itself_stands_before_its_neighbours(db: psycopg.Connection) -> None:
    put(db, "POLA kortelė", "įžanga", "POLA kortelė išduodama", "pabaiga")
    assert [row[3] for row in search(db, "pola kortelė")] == ["POLA kortelė išduodama", "įžanga", "pabaiga"]


def test_where_no_text_has_all_words_any_of_them_will_do(db: psycopg.Connection) -> None:
    put(db, "a", "Kortelės išduodamos kasdien")
    put(db, "b", "Pola yra organizacija")
    put(db, "c", "nieko")
    assert {row[2] for row in search(db, "pola kortelė", 10, True, 0.0)} == {"a", "b"}
    assert [row[2] for row in search(db, "pola yra")] == ["b"]


def test_the_least_rank_holds_for_any_word_too(db: psycopg.Connection) -> None:
    put(db, "a", "vienas")
    long = "vienas du trys keturi penki septyni astuoni"
    assert [row[2] for row in search(db, long, 10, True, 0.0)] == ["a"]
    assert search(db, long) == []


@pytest.mark.parametrize("text", [None, "", "   ", "\n\t", "?!", "...", "&|!():*<->'\\"])
def test_a_question_without_words_is_an_error(db: psycopg.Connection, text: str | None) -> None:
    put(db, "a", "text")
    with pytest.raises(INVALID, match="no words"):
        search(db, text)


@pytest.mark.parametrize("limit", [0, -1])
def test_a_limit_below_one_is_an_error(db: psycopg.Connection, limit: int) -> None:
    with pytest.raises(INVALID, match="limit_val"):
        search(db, "a", limit)


@settings(max_examples=40)
@given(text=st.text(st.characters(exclude_characters="\x00", exclude_categories=["Cs"]), max_size=40))
@example("'; DROP TABLE information_search.documents; --")
@example("$function$ || $$ \\' ) & ! (")
@example("a:*b <-> c <2> d | !e & (f")
@example("o'neil \\: 'x' %s {0} 100%")
def test_whatever_is_asked_is_taken_as_words(db: psycopg.Connection, text: str) -> None:
    """A result or the one error; never an error of syntax, and nothing is changed."""
    clear(db)
    put(db, text, f"word {text}")
    try:
        found = search(db, text, 10, True, 0.0)
        assert [row[2] for row in found] == [text]
    except INVALID:
        assert not any(char.isalnum() and char.isascii() for char in text)
    assert [row[2] for row in search(db, f"word {text}", 10, True, 0.0)] == [text]


def test_others_read_what_is_for_their_groups(db: psycopg.Connection) -> None:
    put(db, "all", "kortelė")
    put(db, "staff", "kortelė", readers=["staff", "hr"])
    put(db, "nobody", "kortelė", readers=[])
    db.execute("DROP ROLE IF EXISTS asking")
    db.execute("CREATE ROLE asking")
    db.execute("GRANT USAGE ON SCHEMA information_search TO asking")
    db.execute("GRANT SELECT ON ALL TABLES IN SCHEMA information_search TO asking")

    def seen(groups: str | None) -> set[str]:
        with db.transaction():
            db.execute("SET LOCAL ROLE asking")
            if groups is not None:
                db.execute("SELECT set_config('ragstone.groups', %s, true)", [groups])
            texts = {row[2] for row in search(db, "kortelė")}
            titles = db.execute("SELECT d.title FROM information_search.documents d").fetchall()
            chunks = db.execute("SELECT count(*) FROM information_search.document_chunks").fetchone()
            assert texts == {title for (title,) in titles}
            assert chunks == (len(texts),)
            tried = db.execute("SELECT check_name, passed FROM public.test_search_function()").fetchall()
            assert ("samples", None) in tried  # may not write
            return texts

    assert seen(None) == {"all"}
    assert seen("[]") == {"all"}
    assert seen('["guests"]') == {"all"}
    assert seen('["guests", "hr"]') == {"all", "staff"}
    assert {row[2] for row in search(db, "kortelė")} == {"all", "staff", "nobody"}  # the owner
    db.execute("DROP OWNED BY asking")
    db.execute("DROP ROLE asking")


def test_both_kinds_of_words_are_found_by_indexes(db: psycopg.Connection) -> None:
    for i in range(50):
        put(db, f"title {i}", f"some words number {i}", f"and others {i}")
    db.execute("ANALYZE information_search.documents, information_search.document_chunks")
    db.execute("SET enable_seqscan = off")  # of so few, reading them all is as quick
    for sql in (
        "SELECT id FROM information_search.documents WHERE title_terms @@ plainto_tsquery('simple', '77')",
        "SELECT id FROM information_search.document_chunks WHERE content_terms @@ plainto_tsquery('simple', '77')",
    ):
        plan = "\n".join(row[0] for row in db.execute(f"EXPLAIN {sql}"))  # pyright: ignore
        assert "_terms" in plan.split("Bitmap Index Scan on", 1)[1]
    db.execute("RESET enable_seqscan")


def test_common_words_are_ranked_up_to_a_bound(db: psycopg.Connection):
    document = put(db, "a")
    fill = """
        INSERT INTO information_search.document_chunks (document_id, chunk_index, chunk_content)
        SELECT %s, n, CASE WHEN n < 20500 THEN 'common word' ELSE 'common common common rare' END
        FROM generate_series(0, 20500) AS n
    """
    db.execute(fill, [document])
    assert len(search(db, "common")) == 10
    assert search(db, "common rare")[0][3] == "common common common rare"
    # No chunk has all of these words, so any may match: the one rare chunk is among those that are ranked.
    assert search(db, "common word rare absent")[0][3] == "common common common rare"
    assert len(search(db, "common", 2147483647)) == 20501
    # The best of the common ones is the last, beyond the bound, unless all are asked for.
    assert search(db, "common")[0][3] == "common word"
    assert search(db, "common", 2147483647)[0][3] == "common common common rare"
