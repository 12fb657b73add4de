"""Questions, searches and documents over HTTP, on a real server."""

from __future__ import annotations

import json
import sqlite3
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import pytest
from live import Live, Serving

from ragstone import Document
from ragstone.core.access import OWNER
from ragstone.serve import as_json


def test_answers_with_exact_citations(house: Live) -> None:
    answer = house.ask(explain=True).json()
    assert answer["answer"] == "Visitors park behind the mill. The gate closes at nine in the evening. [1]"
    (citation,) = answer["citations"]
    document = house.http.get(f"/documents/{citation['document_id']}").json()
    assert document["text"][citation["start"] : citation["end"]] == citation["quote"]
    assert answer["hits"][0]["why"]
    assert answer["usage"]["cost"] == 0


def test_refuses_what_no_language_has_in_that_of_the_page(serving: Serving) -> None:
    german = "Die Mühle steht am Fluss. Besucher parken hinter der Mühle, und das Tor schließt um neun Uhr abends."
    live = serving(documents=(Document(id="muehle.md", text=german, kind="markdown"),))

    def told(question: str, accepted: str) -> str:
        asked = live.http.post("/query", json={"question": question}, headers={"accept-language": accepted})
        return str(asked.json()["answer"])

    assert told("qwrtz plfxk", "en-GB,de;q=0.5").startswith("I couldn't find an answer")
    assert told("qwrtz plfxk", "lt").startswith("Šiuose dokumentuose")
    assert told("qwrtz plfxk", "").startswith("In diesen Dokumenten")
    assert told("Steuererklärung Fahrrad", "en").startswith("In diesen Dokumenten"), "words of a language"


def test_streams_events_in_order(house: Live) -> None:
    events = house.events()
    names = [name for name, _ in events]
    assert (names[0], names[-1]) == ("evidence", "answer")
    assert set(names[1:-1]) == {"text", "sentence"}
    assert events[0][1]["hits"][0]["document_id"] == "house/parking.md"
    plain = house.ask().json()
    for told in (events[-1][1], plain):
        for varying in ("response_id", "timestamp", "timings_ms", "usage"):
            del told[varying]
    assert events[-1][1] == plain


def test_answers_like_the_command_line(house: Live) -> None:
    import asyncio

    said = as_json.answer(asyncio.run(house.engine.ask("Where do visitors park?", reader=OWNER)))
    told = house.ask().json()
    assert told.pop("hits") is None
    assert told.keys() == said.keys()
    assert told["citations"] == said["citations"]


def test_reads_bodies_of_other_programs(house: Live) -> None:
    body = {"query": "Where do visitors park?", "top_k": 1, "explain": True}
    answer = house.http.post("/query", json=body).json()
    assert "behind the mill" in answer["answer"]
    assert len(answer["hits"]) == 1
    refused = house.http.post("/query", json={**body, "question": "Who parks?"})
    assert refused.status_code == 422


def test_abstains_without_evidence(house: Live) -> None:
    answer = house.ask("Who won the chess tournament of 1972?").json()
    assert answer["abstained"]


def test_search_returns_chunks(house: Live) -> None:
    found = house.http.post("/search", json={"query": "projector", "k": 1, "where": "kind = markdown"}).json()
    (hit,) = found["hits"]
    assert hit["document_id"] == "house/rooms.md"
    assert hit["why"] is None


def test_question_settings_apply_once(house: Live) -> None:
    few = house.ask(settings={"rank.top_k": 1, "query.method": "bm25"}, explain=True).json()
    assert len(few["hits"]) == 1
    assert few["retrieval_method"].startswith("bm25")
    assert house.ask(explain=True).json()["retrieval_method"].startswith("hybrid")


@pytest.mark.parametrize(
    ("body", "status", "code", "said"),
    [
        ({"question": " "}, 422, "invalid", "the question is empty"),
        ({"question": "\x1c"}, 400, "usage", "empty"),
        ({"question": ""}, 422, "invalid", "the question is empty"),
        ({"question": "x" * 8001}, 422, "invalid", "8000"),
        ({"question": "a", "unknown": 1}, 422, "invalid", "unknown"),
        ({"question": "a", "explain": "yes"}, 422, "invalid", "explain"),
        ({"question": "a", "where": "kind ="}, 400, "usage", ""),
        ({"question": "a", "settings": {"respond.model.name": "os:system"}}, 422, "invalid", "respond.model.name"),
        ({"question": "a", "settings": {"services.openai.base_url": "http://x"}}, 422, "invalid", "base_url"),
        ({"question": "a", "settings": {"respond": {}}}, 422, "invalid", "settings"),
        ({"question": "a", "settings": {"rank.top_k": 100_000}}, 422, "invalid", "100"),
        ({"question": "a", "settings": {"rank.top_k": "many"}}, 422, "invalid", "rank.top_k"),
        ({"question": "a", "settings": {"rank.reranker": "cross-encoder:/etc"}}, 422, "invalid", "maxsim"),
        ({"question": "a", "settings": {"rank.reranker": "maxsim", "rank.pool": 51}}, 400, "settings", "at most 50"),
        ({"question": "a", "settings": {"query.fetch_k": 9_999, "query.variations": 2}}, 400, "settings", "20,000"),
        ({"question": "a", "settings": {"chunk.size": 500}}, 422, "invalid", "chunk.size"),
        ({"question": "a", "settings": {"rank.nothing": 1}}, 422, "invalid", "rank.nothing"),
    ],
)
def test_explains_refused_questions(house: Live, body: dict[str, object], status: int, code: str, said: str) -> None:
    for accept in ("application/json", "text/event-stream"):
        response = house.http.post("/query", json=body, headers={"accept": accept})
        error = response.json()["error"]
        assert (response.status_code, error["code"]) == (status, code)
        assert said in error["message"]
        assert error["request_id"] == response.headers["x-request-id"]


def test_lists_documents_in_pages(house: Live) -> None:
    first = house.http.get("/documents", params={"limit": 2}).json()
    assert [one["document_id"] for one in first["documents"]] == ["house/parking.md", "house/rooms.md"]
    assert first["total"] == 3
    second = house.http.get("/documents", params={"limit": 2, "after": first["next"]}).json()
    assert [one["document_id"] for one in second["documents"]] == ["hr/salaries.md"]
    assert second["next"] is None
    assert house.http.get("/documents", params={"q": "PARK"}).json()["total"] == 1


def test_returns_the_requested_highlight(house: Live) -> None:
    told = house.http.get("/documents/house/rooms.md", params={"start": 0, "end": 6}).json()
    assert told["text"][told["highlight"]["start"] : told["highlight"]["end"]] == "Room 7"
    assert house.http.get("/documents/house%2Frooms.md").json()["highlight"] is None
    assert house.http.get("/documents/house/rooms.md", params={"end": 6000}).json()["highlight"] is None
    assert house.http.get("/documents/house/nothing.md").status_code == 404


def test_keeps_and_deletes_conversations(house: Live) -> None:
    house.ask(session="my trip/1")
    assert "my trip/1" in [one["session"] for one in house.http.get("/conversations").json()["conversations"]]
    turns = house.http.get("/conversations/my trip/1").json()["turns"]
    assert [turn["question"] for turn in turns] == ["Where do visitors park?"]
    changed = house.http.patch("/conversations/my trip/1", json={"title": "Parking", "pinned": True})
    assert changed.json() == {"title": "Parking", "pinned": True}
    first = house.http.get("/conversations").json()["conversations"][0]
    assert (first["session"], first["title"], first["pinned"]) == ("my trip/1", "Parking", True)
    assert house.http.patch("/conversations/none", json={"title": "x"}).status_code == 404
    assert house.http.patch("/conversations/my trip/1", json={"title": "a\nb"}).status_code == 422
    assert house.http.delete("/conversations/my trip/1").json() == {"turns": 1}
    assert house.http.get("/conversations/my trip/1").status_code == 404


def test_keeps_answers_and_accepts_votes(house: Live) -> None:
    answer = house.ask().json()
    id = answer["response_id"]
    vote = {"response_id": id, "vote": "down", "reason": "too short", "correction": "house/rooms.md"}
    assert house.http.post("/feedback", json=vote).json()["vote"] == "down"
    assert house.http.post("/feedback", json=vote | {"vote": "up"}).json()["vote"] == "up"
    kept = house.http.get(f"/responses/{id}").json()
    assert kept["answer"] == answer
    assert [one["vote"] for one in kept["feedback"]] == ["up"]
    evidence = house.http.get(f"/responses/{id}", params={"explain": True}).json()["answer"]["hits"]
    assert evidence == house.ask(explain=True).json()["hits"]
    assert house.http.post("/feedback", json=vote | {"response_id": "none"}).status_code == 404
    assert house.http.post("/feedback", json=vote | {"vote": "maybe"}).status_code == 422


def test_busy_journal_blocks_no_other_request(house: Live) -> None:
    id = house.ask().json()["response_id"]
    with closing(sqlite3.connect(house.engine.folder / "journal.db", isolation_level=None)) as db:
        db.execute("BEGIN IMMEDIATE")
        with ThreadPoolExecutor(2) as others:
            vote = others.submit(house.http.post, "/feedback", json={"response_id": id, "vote": "up"})
            answer = others.submit(house.ask, session="busy")
            time.sleep(0.5)  # by then both wait
            assert house.http.get("/me", timeout=10).status_code == 200
            assert house.http.post("/search", json={"query": "mill"}, timeout=10).status_code == 200
            assert not vote.done()
            assert not answer.done()
            db.execute("COMMIT")
            assert (vote.result().status_code, answer.result().status_code) == (200, 200)


def test_reports_its_own_status(house: Live) -> None:
    assert house.http.get("/health").json()["status"] == "alive"
    assert house.until(lambda: house.http.get("/ready").json(), lambda it: it["status"] == "ready")
    assert house.http.get("/me").json() == {
        "name": "",
        "scopes": ["admin", "read", "tokens", "write"],
        "groups": None,
        "open": True,
        "person": None,
        "web_pages": False,
        "attached_files": 10,
        "models": [],
        "writes": False,
        "pictures": False,
        "has_password": False,
    }
    house.ask()
    metrics = house.http.get("/metrics")
    assert metrics.headers["content-type"].startswith("text/plain")
    assert 'ragstone_http_requests_total{method="POST",route="/query",status="200"}' in metrics.text
    assert 'ragstone_questions_total{outcome="answered"}' in metrics.text
    assert "ragstone_jobs_unfinished 0" in metrics.text
    stats = house.http.get("/stats").json()
    assert stats["total"]["answered"] >= 1
    assert stats["documents"] == 3
    status = house.http.get("/status").json()
    assert (status["documents"], status["chunks"], status["skipped"]) == (3, 3, 0)
    assert status["built_with"]["chunk.strategy"] == "paragraph"
    assert str(house.engine.folder) not in json.dumps(status)
    told = {one["path"]: one["value"] for one in house.http.get("/settings").json()["settings"]}
    assert told["rank.top_k"] == "5"


def test_wrong_methods_name_the_allowed_ones(house: Live) -> None:
    for path, allowed in (("/query", "POST"), ("/documents/x/y.md", "DELETE, GET"), ("/documents", "GET, POST")):
        for method in ("PUT", "GET") if path == "/query" else ("PUT",):
            refused = house.http.request(method, path)
            assert (refused.status_code, refused.headers["allow"]) == (405, allowed)
            assert refused.json()["error"]["code"] == "method_not_allowed"
    assert house.http.get("/nothing/at/all").status_code == 404
