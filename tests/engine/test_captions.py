"""Descriptions of pictures: found, cited as what they are, paid for once, and never in the way of a document."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, closing, contextmanager
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from hidden import hide
from kb import READY, open_fast, parts
from pdf_file import pdf, text
from pictures import book, in_page, letter, painted, saved, spreadsheet, text_document

from ragstone.core.access import OWNER
from ragstone.core.answers import Answer
from ragstone.core.errors import MissingExtra, SettingsError, SourceError, UsageError
from ragstone.core.reports import AddReport
from ragstone.engine import pictured
from ragstone.engine.captions import KIND
from ragstone.engine.knowledge_base import KnowledgeBase
from ragstone.engine.leaving import destinations
from ragstone.serve.as_report import markdown_of
from ragstone.serve.views import answers
from ragstone.services import estimate
from servers.openai_server import KEY, Fault, OpenAIServer, pictures_in, words_in

Image = pytest.importorskip("PIL.Image")

MODEL = "openai:sees"
SAYS = {
    "red": "A photo of the crimson balloon over Trakai.",
    "blue": "A map of the harbour of Nida with its lighthouse.",
    "green": "A chart of the rainfall in Alytus.",
}
Open = Callable[..., AbstractContextManager[KnowledgeBase]]


def picture(colour: str) -> bytes:
    return saved(painted(colour), "PNG")


def reply(messages: Sequence[Mapping[str, Any]]) -> str:
    """Describe the last picture, or else answer with the first words of the prompt's last message."""
    pictures = pictures_in(messages)
    if not pictures:
        return f"FOUND: yes\n{words_in(messages[-1])[:20]} [1]."
    image = Image.open(BytesIO(pictures[-1])).convert("RGB")
    shades = image.getpixel((image.width // 2, image.height // 2))
    return SAYS[("red", "green", "blue")[shades.index(max(shades))]]


@pytest.fixture
def server() -> Iterator[OpenAIServer]:
    with OpenAIServer(reply) as server:
        yield server


@pytest.fixture
def opened(tmp_path: Path, server: OpenAIServer) -> Open:
    always = (
        READY,
        f"acquire.captions.model={MODEL}",
        "acquire.ocr=off",
        f"services.openai.api_key={KEY}",
        f"services.openai.base_url={server.url}",
        "services.retries=0",
    )

    @contextmanager
    def opened(*settings: str) -> Generator[KnowledgeBase]:
        """Open it as another process would."""
        with closing(open_fast(tmp_path / "kb", *always, *settings)) as kb:
            yield kb

    return opened


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "docs"
    folder.mkdir()
    (folder / "balloon.png").write_bytes(picture("red"))
    (folder / "trip.docx").write_bytes(letter(picture("blue"), after="The trip was long."))
    return folder


def add(kb: KnowledgeBase, *sources: Path) -> AddReport:
    return asyncio.run(kb.documents.add([str(source) for source in sources]))


def ask(kb: KnowledgeBase, question: str, shown: bytes = b"") -> Answer:
    return asyncio.run(kb.ask(question, reader=OWNER, picture=shown))


def text_of(kb: KnowledgeBase, id: str) -> str:
    return kb.documents.get(id, reader=OWNER).text


def asked(server: OpenAIServer) -> int:
    return sum(bool(pictures_in(one.body["messages"])) for one in server.asked)


# ---------------------------------------------------------------- documents


@pytest.mark.parametrize(
    ("question", "id", "colour"),
    [
        ("Where is the crimson balloon?", "docs/balloon.png", "red"),
        ("Which harbour has a lighthouse?", "docs/trip.docx", "blue"),
    ],
)
def test_description_is_found_and_cited_as_one(opened: Open, folder: Path, question: str, id: str, colour: str) -> None:
    with opened() as kb:
        report = add(kb, folder)
        assert (report.added, report.skipped, report.decoded) == (2, (), ())
        answer = ask(kb, question)
        assert kb.documents.reading(id, reader=OWNER).pictures == 1
    (citation,) = answer.citations
    assert (citation.document_id, citation.described_by) == (id, MODEL)
    assert SAYS[colour] in citation.quote
    assert f"[1] quotes the description of a picture, not words of the document: {MODEL} wrote it" in answer.notices
    origin = f"a description of a picture by {MODEL}"
    assert origin in str(citation)
    assert origin in markdown_of(answer).replace("\\", "")
    assert any(origin in "".join(str(part) for part in line.parts) for line in answers.sources(answer))


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("coast.html", f'<h1>Nida</h1><p>The trip was long.</p><img src="{in_page(picture("blue"))}">'.encode()),
        ("coast.epub", book('<p>The trip was long.</p><img src="../p.png">', pictures={"p.png": picture("blue")})),
        ("coast.odt", text_document(picture("blue"))),
        ("coast.ods", spreadsheet(picture("blue"))),
    ],
)
def test_description_in_other_kinds_of_files_is_cited_as_one(
    opened: Open, tmp_path: Path, name: str, content: bytes
) -> None:
    (tmp_path / name).write_bytes(content)
    with opened() as kb:
        report = add(kb, tmp_path / name)
        assert (report.added, report.skipped, report.decoded) == (1, (), ())
        (citation,) = ask(kb, "Which harbour has a lighthouse?").citations
    assert (citation.document_id, citation.described_by) == (name, MODEL)
    assert SAYS["blue"] in citation.quote


def test_words_of_the_document_are_cited_as_its_own(opened: Open, folder: Path) -> None:
    with opened() as kb:
        add(kb, folder)
        answer = ask(kb, "How long was the trip?")
    assert [one.described_by for one in answer.citations] == [""]
    assert not any("picture" in notice for notice in answer.notices)


def test_written_answer_cites_a_description_as_one(opened: Open, folder: Path, server: OpenAIServer) -> None:
    with opened("respond.model.name=openai:writes") as kb:
        add(kb, folder)
        server.reply = lambda _: "FOUND: yes\nThe lighthouse is on a map of the harbour of Nida. [1]"
        answer = ask(kb, "Which harbour has a lighthouse?")
    assert answer.model == "openai:writes"
    assert [one.described_by for one in answer.citations] == [MODEL]
    assert any("quotes the description of a picture" in notice for notice in answer.notices)
    prompt = words_in(server.asked[-1].body["messages"][-1])
    assert f"Picture, described by {MODEL}:\n{SAYS['blue']}" in prompt


def test_picture_of_a_pdf_is_cited_with_its_page(opened: Open, tmp_path: Path) -> None:
    blue = "q 200 0 0 200 100 300 cm BI /W 3 /H 1 /CS /RGB /BPC 8 /F /AHx ID ffffff0000ffffffff> EI Q"
    pages = [text(100, 700, "The first page of the guide"), f"{text(100, 700, 'The second page of the guide')} {blue}"]
    (tmp_path / "guide.pdf").write_bytes(pdf(pages, drawn=True))
    with opened() as kb:
        add(kb, tmp_path / "guide.pdf")
        (citation,) = ask(kb, "Which harbour has a lighthouse?").citations
    assert (citation.page, citation.described_by) == ("2", MODEL)


def test_chunk_of_a_description_says_so(opened: Open, folder: Path) -> None:
    with opened() as kb:
        add(kb, folder)
        hits = asyncio.run(kb.search("harbour lighthouse", 5, reader=OWNER))
        told = {hit.chunk.text.partition("\n")[0]: hit.chunk.facts.get("described_by") for hit in hits}
    assert told[f"Picture, described by {MODEL}:"] == MODEL
    assert told["The trip was long."] is None


def test_each_picture_is_paid_for_once(opened: Open, folder: Path, server: OpenAIServer) -> None:
    (folder / "again.docx").write_bytes(letter(picture("blue"), picture("red"), after="Another."))
    with opened() as kb:
        report = add(kb, folder)
        assert asked(server) == 2
        before = text_of(kb, "trip.docx")
        for file in folder.iterdir():
            file.write_bytes(file.read_bytes())
        assert add(kb, folder).unchanged == report.added == 3
        asyncio.run(kb.documents.sync([str(folder)]))
        assert text_of(kb, "trip.docx") == before
    assert asked(server) == 2


def test_nothing_is_sent_unless_a_model_is_named(opened: Open, folder: Path, server: OpenAIServer) -> None:
    with opened("acquire.captions.model=") as kb:
        report = add(kb, folder)
        assert text_of(kb, "trip.docx") == "Before the picture\n\nThe trip was long."
        assert destinations(kb.settings) == ()
    assert (report.added, [one.source for one in report.skipped]) == (1, [str(folder / "balloon.png")])
    assert server.asked == []


def test_naming_a_model_reads_the_files_again(opened: Open, folder: Path) -> None:
    with opened("acquire.captions.model=") as kb:
        add(kb, folder)
    with opened() as kb:
        report = add(kb, folder)
        assert (report.added, report.updated) == (1, 1)
        assert SAYS["blue"] in text_of(kb, "trip.docx")


@pytest.mark.parametrize(
    ("fault", "why"),
    [
        (Fault(kind="status", status=500), "the server failed"),
        (Fault(kind="status", status=400), "refuses"),
        (Fault(kind="slow", seconds=3), "no reply within"),
        (Fault(kind="malformed"), "not JSON"),
        (Fault(kind="empty"), "empty reply"),
        (Fault(kind="filtered"), "content filter"),
        (Fault(kind="type"), "event stream"),
    ],
    ids=lambda one: f"{one.kind} {one.status}" if isinstance(one, Fault) else "",
)
def test_failure_costs_no_document(opened: Open, folder: Path, server: OpenAIServer, fault: Fault, why: str) -> None:
    server.draw = lambda _: fault
    with opened("services.timeout_seconds=0.5") as kb:
        report = add(kb, folder)
        assert report.added == 1
        assert text_of(kb, "trip.docx") == "Before the picture\n\nThe trip was long."
        (note,) = [one.note for one in report.decoded]
        assert note.startswith(f"read only in part: 1 picture was not described: {MODEL} at ")
        assert why in note
        (skipped,) = report.skipped
        assert skipped.source.endswith("balloon.png")
        assert skipped.reason.startswith("1 picture was not described: ")
        server.draw = lambda _: None
        again = add(kb, folder)
        assert (again.added, again.updated, again.decoded) == (1, 1, ())
        assert SAYS["blue"] in text_of(kb, "trip.docx")


def test_model_that_fails_is_not_asked_for_ever(opened: Open, tmp_path: Path, server: OpenAIServer) -> None:
    shades = [f"#{red:02x}2040" for red in range(0, 240, 8)]
    file = tmp_path / "many.docx"
    file.write_bytes(letter(*map(picture, shades)))
    server.draw = lambda _: Fault(kind="status", status=500)
    with opened() as kb:
        (decoded,) = add(kb, file).decoded
    assert f"{len(shades)} pictures were not described" in decoded.note
    assert asked(server) <= 8


def test_failure_keeps_the_stored_picture(opened: Open, folder: Path, server: OpenAIServer) -> None:
    with opened() as kb:
        add(kb, folder)
        (folder / "balloon.png").write_bytes(picture("green"))
        server.draw = lambda _: Fault(kind="status", status=500)
        report = asyncio.run(kb.documents.sync([str(folder)]))
        assert report.removed == 0
        assert report.skipped[0].reason.endswith("its stored version is kept")
        assert SAYS["red"] in text_of(kb, "balloon.png")


def test_budget_holds_for_descriptions(opened: Open, folder: Path, server: OpenAIServer) -> None:
    prices = "services.prices={sees: [10, 10]}"
    with opened(prices, "services.budget_per_day=0.01") as kb:
        report = add(kb, folder)
        assert report.added == 1
        assert "budget" in report.decoded[0].note
    assert asked(server) == 0
    assert estimate.PICTURE * 10 / 1_000_000 > 0.01
    with opened(prices, "services.budget_per_day=5") as kb:
        report = add(kb, folder)
        assert 0 < report.cost < 0.01
    assert asked(server) == 2


def test_plan_asks_nothing_and_knows_what_is_kept(opened: Open, folder: Path, server: OpenAIServer) -> None:
    with opened() as kb:
        assert asyncio.run(kb.documents.plan([str(folder)])).added == ("docs/balloon.png", "docs/trip.docx")
        assert asked(server) == 0
        add(kb, folder)
        for file in folder.iterdir():
            file.write_bytes(file.read_bytes())
        planned = asyncio.run(kb.documents.plan([str(folder)]))
        assert (planned.added, planned.updated, planned.unchanged) == ((), (), 2)
    assert asked(server) == 2


def test_forgetting_empties_the_descriptions(opened: Open, folder: Path) -> None:
    with opened() as kb:
        add(kb, folder)
        assert entries(kb) == 2
        kb.documents.forget(["docs/balloon.png"], reader=OWNER)
        assert entries(kb) == 0


def entries(kb: KnowledgeBase) -> int:
    return {one.kind: one.entries for one in parts(kb).cache().status()}[KIND]


def test_tells_where_pictures_go(opened: Open, server: OpenAIServer) -> None:
    with opened() as kb:
        (told,) = destinations(kb.settings)
    assert (told.kind, told.address, told.setting) == ("vision model", server.url, f"acquire.captions.model={MODEL}")


@pytest.mark.parametrize("name", ["extractive", "gguf:model.gguf", "huggingface:some/model", "some/model"])
def test_refuses_models_that_see_nothing(opened: Open, folder: Path, name: str) -> None:
    theirs = (f"acquire.captions.model={name}", "services.openai.base_url=https://api.openai.com/v1")
    with opened(*theirs) as kb, pytest.raises(SettingsError, match="sees no pictures"):
        add(kb, folder)


def test_says_which_setting_is_missing(opened: Open, folder: Path) -> None:
    theirs = ("services.openai.api_key=", "services.openai.base_url=https://api.openai.com/v1")
    with opened(*theirs) as kb, pytest.raises(SettingsError, match=r"services\.openai\.api_key"):
        add(kb, folder)


def test_names_the_package_that_is_missing(opened: Open, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    hide(monkeypatch, "PIL")
    with opened() as kb, pytest.raises(MissingExtra, match="Pillow"):
        add(kb, folder)


# ---------------------------------------------------------------- questions


def test_picture_in_a_question_is_described(opened: Open, folder: Path) -> None:
    with opened() as kb:
        add(kb, folder)
        answer = ask(kb, "Where is this?", saved(painted("blue"), "JPEG"))
    assert answer.question.startswith("Where is this?")
    assert f"{MODEL} describes it: {SAYS['blue']}" in answer.question
    assert answer.citations[0].document_id == "docs/trip.docx"
    assert [one.kind for one in answer.sent] == [f"language model {MODEL}"]
    assert answer.usage.model_calls == 1


def test_writing_model_reads_the_description(opened: Open, folder: Path, server: OpenAIServer) -> None:
    with opened("respond.model.name=openai:writes") as kb:
        add(kb, folder)
        ask(kb, "Where is this?", picture("green"))
    prompt = words_in(server.asked[-1].body["messages"][-1])
    assert server.asked[-1].body["model"] == "writes"
    assert f"{MODEL} describes it: {SAYS['green']}" in prompt


def test_picture_needs_a_vision_model(opened: Open, folder: Path, server: OpenAIServer) -> None:
    with opened("acquire.captions.model=") as kb:
        add(kb, folder)
        with pytest.raises(SettingsError, match=r"acquire\.captions\.model"):
            ask(kb, "Where is this?", picture("red"))
    assert server.asked == []


def test_refuses_pictures_that_cannot_be_asked_about(
    opened: Open, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with opened() as kb:
        add(kb, folder)
        with pytest.raises(SourceError, match="the picture cannot be read"):
            ask(kb, "Where is this?", b"nothing")
        monkeypatch.setattr(pictured, "MOST_BYTES", 1000)
        with pytest.raises(UsageError, match=r"at most 0 MB are allowed"):
            ask(kb, "Where is this?", picture("red") + bytes(1000))
