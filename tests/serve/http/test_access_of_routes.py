"""Random readers at every route that shows or changes something of somebody: nobody gets what is for others."""

from __future__ import annotations

import os
import pkgutil
import random
import re
from dataclasses import dataclass
from importlib import import_module
from typing import Any
from urllib.parse import quote

import httpx2
from live import Live, Serving, make_key
from pdf_file import pdf

from ragstone.serve.http import routes
from ragstone.serve.http.app import ROUTERS

CASES = 10_000 if os.environ.get("RAGSTONE_TEST_FULL") else 150
GROUPS = ("hr", "it", "law", "*")
KINDS = ("md", "pdf", "csv")
OF_DOCUMENT = ("documents", "places", "rows", "pages", "originals")
"""Routes of a document. The file of a row has other rows, so only the owner gets it."""
ANSWERS = {
    ("GET", "/responses/{response_id}"),
    ("POST", "/feedback"),
    ("GET", "/conversations/{session}"),
    ("PATCH", "/conversations/{session}"),
    ("GET", "/links/{session}"),
    ("POST", "/links/{session}"),
    ("GET", "/v1/responses/{response_id}"),
}
FINDING = {("POST", "/query"), ("POST", "/search"), ("GET", "/documents"), ("GET", "/jobs"), ("GET", "/conversations")}
ENDING = {
    ("DELETE", "/conversations/{session}"),
    ("DELETE", "/links/{session}"),
    ("DELETE", "/v1/responses/{response_id}"),
}
"""Only others try these, because they would end what the next case needs."""
MCP = f"{routes.__name__}.mcp"
"""Served only if its package is installed."""
SECRET = re.compile(r"secret[a-z]{8}")


@dataclass(frozen=True)
class Person:
    """A reader of some groups, the header of their key, and an answer and a conversation of theirs."""

    groups: frozenset[str]
    key: dict[str, str]
    response: str
    stored: str
    session: str


class World:
    """Documents with a secret word each, by id, and readers."""

    def __init__(self, live: Live, chance: random.Random) -> None:
        self.live, self.chance = live, chance
        self.groups: dict[str, str] = {}
        self.word: dict[str, str] = {}
        self.key = make_key(live.engine.folder, "owner", "read", "write")
        for group in GROUPS:
            files = [(f"{kind}-{group.replace('*', 'all')}.{kind}", self._content(kind)) for kind in KINDS]
            form = [("files", file) for file in files]
            sent = live.http.post("/documents", files=form, data={"groups": [group]}, headers=self.key)
            live.until(lambda sent=sent: self._job(sent), _has_ended)
        for one in self._get("/documents")["documents"]:
            id = one["document_id"]
            (self.word[id],) = SECRET.findall(self._get(f"/documents/{quote(id)}")["text"])
            self.groups[id] = re.sub(".*-(.*)[.].*", r"\1", id).replace("all", "*")
        assert len(self.word) == 4 * len(GROUPS)
        self.people = [self._person(n) for n in range(8)]

    def _content(self, kind: str) -> bytes:
        words = ["secret" + "".join(self.chance.choices("abcdefghijklmnopqrstuvwxyz", k=8)) for _ in range(2)]
        if kind == "csv":
            return f"Station,Word\nAlpha,{words[0]}\nBeta,{words[1]}\n".encode()
        text = f"The word of the harbour is {words[0]}."
        return pdf([text]) if kind == "pdf" else text.encode()

    def _job(self, sent: httpx2.Response) -> dict[str, Any]:
        return self._get(f"/jobs/{sent.json()['job_id']}")

    def _get(self, path: str) -> dict[str, Any]:
        found = self.live.http.get(path, headers=self.key)
        assert found.status_code == 200, found.text
        return found.json()

    def _person(self, number: int) -> Person:
        groups = frozenset(self.chance.sample(GROUPS[:3], self.chance.randint(0, 3)))
        key = make_key(self.live.engine.folder, f"reader {number}", "read", "write", groups=sorted(groups))
        session = f"of/{number}"
        asked = {"question": "What is the word of the harbour?", "session": session}
        response = self.live.http.post("/query", json=asked, headers=key).json()["response_id"]
        spoken = {"model": "ragstone", "input": "What is the word of the harbour?"}
        stored = self.live.http.post("/v1/responses", json=spoken, headers=key).json()["id"]
        return Person(groups, key, response, stored, session)

    def may(self, person: Person, id: str) -> bool:
        return self.groups[id] in {"*", *person.groups}

    def check(self, person: Person, told: httpx2.Response, asked: str = "") -> None:
        """Check that a response has no word of a document that is for others, unless the question has it."""
        assert told.status_code < 500, told.text
        known = {word for id, word in self.word.items() if self.may(person, id)} | set(SECRET.findall(asked))
        assert set(SECRET.findall(told.text)) <= known, (person.groups, told.request.url)


def _has_ended(job: dict[str, Any]) -> bool:
    return job["ended"] is not None


def test_no_route_shows_what_is_for_others(serving: Serving) -> None:
    live = serving("limits.concurrent=0", documents=())
    chance = random.Random(5)
    world = World(live, chance)
    told = live.http.get("/openapi.json", headers=world.key).json()["paths"]
    every = [(method.upper(), path) for path, methods in told.items() for method in methods]
    for _ in range(CASES):
        person = chance.choice(world.people)
        kind = chance.randrange(4)
        if kind == 3:
            anything(world, person, chance, *chance.choice(every))
        elif kind == 0:
            of_document(world, person, chance.choice(sorted(world.word)), chance)
        elif kind == 1:
            of_answer(world, person, chance.choice(world.people), chance)
        else:
            finding(world, person, chance)


def of_document(world: World, person: Person, id: str, chance: random.Random) -> None:
    may, is_row, is_pdf = world.may(person, id), ".csv#" in id, id.endswith(".pdf")
    route = chance.choice(OF_DOCUMENT)
    name = id if chance.random() < 0.7 else id.rpartition("/")[2]
    start = chance.randrange(40)
    span = {"start": start, "end": start + chance.randrange(80)}
    told = world.live.http.get(f"/{route}/{quote(name)}", params=span, headers=person.key)
    world.check(person, told)
    shown = may and {"rows": is_row, "pages": is_pdf, "originals": not is_row}.get(route, True)
    assert told.status_code == (200 if shown else 404), (route, id, told.text)
    if not may:
        assert told.json()["error"]["message"] == f"there is no document '{name}'"
        gone = world.live.http.delete(f"/documents/{quote(id)}", headers=person.key)
        assert gone.status_code == 404


def of_answer(world: World, person: Person, owner: Person, chance: random.Random) -> None:
    is_own = person is owner
    method, path = chance.choice(sorted(ANSWERS if is_own else ANSWERS | ENDING))
    id = owner.stored if path.startswith("/v1/") else owner.response
    bodies: dict[str, dict[str, object]] = {
        "/feedback": {"response_id": id, "vote": chance.choice(["up", "down"])},
        "/links/{session}": {"days": 1},
        "/conversations/{session}": {"title": "x"},
    }
    body = bodies[path] if method in ("POST", "PATCH") else None
    address = path.format(response_id=id, session=owner.session)
    told = world.live.http.request(method, address, json=body, headers=person.key)
    world.check(person, told)
    if path != "/links/{session}":
        assert (told.status_code < 300) is is_own, (method, path, told.text)
    elif not is_own:  # of one's own, there may be none, or too many
        assert told.status_code == 404 or told.json() == {"links": []}, told.text


def finding(world: World, person: Person, chance: random.Random) -> None:
    method, path = chance.choice(sorted(FINDING))
    texts = ["What is the word of the harbour?", "Station Alpha", *world.word.values()]
    text = chance.choice(texts)[chance.randrange(2) :]  # or with a typing error
    body = {"question" if path == "/query" else "query": text} if method == "POST" else None
    told = world.live.http.request(method, path, json=body, headers=person.key)
    assert told.status_code == 200, told.text
    world.check(person, told, text if body else "")
    if path == "/documents":
        listed = {one["document_id"] for one in told.json()["documents"]}
        assert listed == {id for id in world.word if world.may(person, id)}


def anything(world: World, person: Person, chance: random.Random, method: str, path: str) -> None:
    """Try any route, also one of administrators, with names of what is for others."""
    foreign = chance.choice([one for one in world.people if one is not person])
    hidden = [id for id in world.word if not world.may(person, id)]
    names = [*map(quote, hidden), foreign.session, foreign.response, foreign.stored, "reader%200"]
    address = re.sub("{.*?}", lambda _: chance.choice(names), path)
    told = world.live.http.request(method, address, json={} if method != "GET" else None, headers=person.key)
    world.check(person, told)
    if path.startswith("/admin") or path in ("/settings", "/stats", "/status", "/sync", "/tokens"):
        assert told.status_code in (403, 404, 405), (method, path, told.text)


def test_serves_the_router_of_every_module() -> None:
    names = [module.name for module in pkgutil.iter_modules(routes.__path__)]
    modules = [import_module(f"{routes.__name__}.{name}") for name in names]
    routers = [module.router for module in modules if hasattr(module, "router") and module.__name__ != MCP]
    assert [router for router in routers if router not in ROUTERS] == []


def test_shows_the_routes_as_a_page(house: Live) -> None:
    shown = house.http.get("/docs")
    assert shown.headers["content-type"].startswith("text/html")
    assert "<h2><code>POST /query</code></h2>" in shown.text
    assert "body: <code>QueryRequest</code>, application/json" in shown.text
    assert "://" not in shown.text.replace("http://www.w3.org", "")


def test_every_route_of_people_is_tried(house: Live) -> None:
    told = house.http.get("/openapi.json").json()["paths"]
    wanted = re.compile("/(conversations|responses|feedback|links|v1/responses/)|.*{document_id}")
    every = {(method.upper(), path) for path, methods in told.items() if wanted.match(path) for method in methods}
    documents = {("GET", f"/{one}/{{document_id}}") for one in OF_DOCUMENT} | {("DELETE", "/documents/{document_id}")}
    assert every - {("GET", "/conversations")} == documents | ANSWERS | ENDING
