"""Collections: administrators name a filter, and those who see it may choose it."""

from __future__ import annotations

from live import Live, Serving, make_key

from ragstone.core.records import Document

PARKING = Document(
    id="parking.md",
    title="Where do visitors park?",
    text="Visitors park behind the hall, where there are twelve spaces.",
    metadata={"kind": "markdown", "area": "site"},
)
KITCHEN = Document(
    id="kitchen.md",
    title="When is lunch served?",
    text="Lunch is served from noon until two in the afternoon, on every weekday.",
    metadata={"kind": "markdown", "area": "food"},
)
SITE = {"name": "Site", "where": "area = site"}


def names(live: Live, headers: dict[str, str] | None = None) -> list[str]:
    return [one["name"] for one in live.http.get("/collections", headers=headers).json()["collections"]]


def test_a_collection_is_chosen_by_its_filter(serving: Serving) -> None:
    live = serving(documents=(PARKING, KITCHEN))
    assert names(live) == []
    assert live.http.post("/admin/collections", json=SITE).status_code == 204
    (site,) = live.http.get("/collections").json()["collections"]
    assert site == SITE | {"groups": None, "questions": []}
    for question, outcome in (("Where do visitors park?", "answer"), ("When is lunch served?", "refusal")):
        assert live.ask(question, where=site["where"]).json()["outcome"] == outcome
    suggested = live.http.get("/suggestions", params={"where": site["where"]}).json()["questions"]
    listed = live.http.get("/documents", params={"where": site["where"]}).json()
    assert listed["total"] == len(listed["documents"]) < live.http.get("/documents").json()["total"]
    assert [(one["question"], one["document_id"]) for one in suggested] == [("Where do visitors park?", "parking.md")]
    again = SITE | {"questions": ["Where do visitors park?"]}
    refused = live.http.post("/admin/collections", json=again)
    assert (refused.status_code, refused.json()["error"]["message"]) == (
        409,
        "there is a collection 'Site' already; send replace: true to replace it",
    )
    assert live.http.get("/collections").json()["collections"] == [site]
    assert live.http.post("/admin/collections", json=again | {"replace": True}).status_code == 204
    assert live.http.get("/collections").json()["collections"] == [again | {"groups": None}]
    assert live.http.delete("/admin/collections/Site").status_code == 204
    assert names(live) == []
    assert live.http.delete("/admin/collections/Site").status_code == 404
    acts = [one["act"] for one in live.http.get("/admin/audit").json()["entries"]]
    assert acts == ["collection.remove", "collection.change", "collection.change"]


def test_refuses_what_cannot_be_a_collection(serving: Serving) -> None:
    live = serving(documents=(PARKING,))
    for wrong in ({"where": "area ="}, {"where": ""}, {"name": " "}, {"name": "a/b"}, {"where": "source = '/etc'"}):
        assert live.http.post("/admin/collections", json=SITE | wrong).status_code in (400, 422), wrong
    assert names(live) == []


def test_refuses_fields_that_no_document_has(serving: Serving) -> None:
    live = serving(documents=(PARKING, KITCHEN))
    refused = live.http.post("/admin/collections", json=SITE | {"where": "folder = meetings"})
    assert refused.status_code == 400
    message = refused.json()["error"]["message"]
    assert message.startswith("no document has a field 'folder'; fields are area, ")
    near = live.http.post("/admin/collections", json=SITE | {"where": "aera = site"})
    assert near.json()["error"]["message"] == "no document has a field 'aera'; did you mean area?"
    assert names(live) == []


def test_only_its_groups_see_a_collection(serving: Serving) -> None:
    live = serving(documents=(PARKING, KITCHEN))
    kb = live.engine.folder
    owner = make_key(kb, "owner", "read", "admin")
    hr, guest = (make_key(kb, name, groups=[name]) for name in ("hr", "guest"))
    for body in (SITE | {"groups": ["hr"]}, {"name": "All", "where": "kind = markdown"}):
        live.until(lambda: live.http.post("/admin/collections", json=body, headers=owner).status_code, (204).__eq__)  # noqa: B023
    assert names(live, owner) == names(live, hr) == ["All", "Site"]
    assert names(live, guest) == ["All"]
    assert live.http.post("/admin/collections", json=SITE, headers=hr).status_code == 403
    assert live.http.delete("/admin/collections/All", headers=hr).status_code == 403
