"""What is said without a search, and answered from the catalog: courtesies, documents, outlines, questions back."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest
from kb import open_fast

from ragstone import Ragstone
from ragstone.core.access import OWNER, READERS, Reader
from ragstone.core.answers import Answer, Turn
from ragstone.core.records import Document, Mark
from ragstone.engine.knowledge_base import KnowledgeBase

HEADINGS = ("Harbour", "Ferries", "Prices", "Dogs", "Bicycles")


def _guide() -> Document:
    text, marks = "", list[Mark]()
    for heading in HEADINGS:
        marks.append(Mark(kind="heading", start=len(text), end=len(text) + len(heading), level=1, label=heading))
        text += f"{heading}\n\nThe part on {heading.lower()} tells what guests should know of them. It is short.\n\n"
    return Document(
        id="docs/guide.pdf", text=text, title="Island guide 2022", marks=tuple(marks), metadata={"author": "Ada Berg"}
    )


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[KnowledgeBase]:
    made = open_fast(tmp_path / "kb")
    documents = [
        Document(id="docs/menu.txt", text="Soup costs four euros.", title="Menu", metadata={"date": "2021-05-01"}),
        Document(id="docs/secret.txt", text="The key is blue.", title="Secret", metadata={READERS: ("staff",)}),
        _guide(),
    ]
    asyncio.run(made.documents.add(documents))
    yield made
    made.close()


def ask(engine: KnowledgeBase, question: str, *, reader: Reader = OWNER, before: list[Turn] | None = None) -> Answer:
    return asyncio.run(engine.ask(question, reader=reader, before=before or []))


@pytest.mark.parametrize(
    ("question", "kind", "begins"),
    [
        ("Hello!", "greeting", "Hello!"),
        ("Labas!", "greeting", "Sveiki!"),
        ("Vielen Dank!", "thanks", "Gern"),
        ("Selamat tinggal", "goodbye", "Selamat tinggal"),
        ("What can you do?", "help", "I answer"),
    ],
)
def test_replies_to_courtesies_without_a_search(engine: KnowledgeBase, question: str, kind: str, begins: str) -> None:
    answer = ask(engine, question)
    assert (answer.kind, answer.outcome, answer.confidence, answer.hits) == (kind, "reply", 0.0, ())
    assert answer.answer.startswith(begins)
    assert not answer.abstained


def test_counts_only_what_the_reader_may_read(engine: KnowledgeBase) -> None:
    assert ask(engine, "How many documents are there?").answer == "Documents: 3."
    guest = ask(engine, "Which documents do you have?", reader=Reader(name="guest", groups=frozenset()))
    assert guest.answer.startswith("Documents: 2.")
    assert "Secret" not in guest.answer
    assert {citation.document_id for citation in guest.citations} == {"docs/menu.txt", "docs/guide.pdf"}


def test_counts_and_lists_files_instead_of_their_rows(tmp_path: Path) -> None:
    rows = "".join(f"Mill {n},{n},Elbe\n" for n in range(12))
    (tmp_path / "mills.csv").write_text(f"name,wheels,river\n{rows}", encoding="utf-8")
    for n in range(11):
        (tmp_path / f"note-{n}.txt").write_text(f"Note {n} says that the river rose.", encoding="utf-8")
    made = open_fast(tmp_path / "kb")
    asyncio.run(made.documents.add([str(tmp_path / "mills.csv"), *(str(one) for one in tmp_path.glob("*.txt"))]))
    assert ask(made, "How many documents are there?").answer == "Documents: 12. Rows of tables in them: 12."
    lines = ask(made, "Which documents do you have?").answer.splitlines()
    assert lines[0] == "Documents: 12. Rows of tables in them: 12. The newest 10:"
    assert len(lines) == 11
    listed = ask(made, "Which CSV files do you have?").answer
    assert listed == "Documents that fit: 1. Rows of tables in them: 12.\n- mills.csv [1]"
    status = made.status()
    assert (status.documents, status.rows, status.tables) == (23, 12, 1)
    made.close()


def test_selects_documents_by_year_and_author(engine: KnowledgeBase) -> None:
    assert ask(engine, "Which documents are from 2021?").answer == "Documents that fit: 1.\n- Menu [1]"
    assert ask(engine, "Which documents were written by Ada Berg?").answer.endswith("- Island guide 2022 [1]")
    assert "Ada Berg" in ask(engine, "Who wrote guide.pdf?").answer
    assert "Island guide 2022" in ask(engine, "What is the newest document?").answer


MAIL = "From: {} <ben@b.example>\nDate: {:02} Mar 2026 09:05:00 +0000\nSubject: {}\n\nThe {} is late this week.\n"


def test_selects_documents_by_their_format(tmp_path: Path) -> None:
    docs = tmp_path / "docs"
    docs.mkdir()
    for day, sender, subject in ((28, "Ann Lee", "The ferry"), (3, "Ben Orr", "The barge")):
        (docs / f"{day}.eml").write_text(MAIL.format(sender, day, subject, subject[4:]))
    (docs / "notes.md").write_text("# Notes\n\nThe ferry is new, and the barge is old.\n")
    (docs / "fahrplan.txt").write_text("Die Fähre fährt jeden Tag um acht Uhr. Am Sonntag fährt sie erst um zehn Uhr.")
    with Ragstone(tmp_path / "kb") as kb:
        kb.add(docs)
        assert [one.document_id for one in kb.ask("Which documents are in German?").citations] == ["docs/fahrplan.txt"]
        assert kb.ask("How many E-mails are there?").answer == "Documents that fit: 2."
        assert [one.document_id for one in kb.ask("Which mails are there?").citations] == ["docs/3.eml", "docs/28.eml"]
        assert kb.ask("List all PDF files").answer == "No document fits that."
        assert kb.ask("How many mails are from 2026?").answer == "Documents that fit: 2."
        assert kb.ask("How many mails are from 2019?").answer == "No document fits that."
        assert kb.ask("Which mails are in German?").answer == "No document fits that."
        assert [one.title for one in kb.ask("Show me all Markdown files").citations] == ["Notes"]
        assert kb.ask("What is the latest mail?").answer == "Newest by date:\n- The ferry [1]"
        assert kb.ask("What is the oldest mail?").answer == "Oldest by date:\n- The barge [1]"
        assert {one.title for one in kb.ask("Which mails mention the barge?").citations} == {"The barge"}
        assert kb.ask("Who sent the mail about the barge?").answer == "The barge: by Ben Orr <ben@b.example>. [1]"


@pytest.mark.parametrize(
    "question", ["Summarize the uploaded file", "What is this document about?", "What is in guide.pdf?"]
)
def test_outlines_a_document_in_exact_quotes(engine: KnowledgeBase, question: str) -> None:
    answer = ask(engine, question)
    assert answer.outcome == "reply"
    text = _guide().text
    assert [text[one.start : one.end] for one in answer.citations] == [one.quote for one in answer.citations]
    assert {one.section for one in answer.citations} == set(HEADINGS)


def test_confines_a_search_to_the_document_named(engine: KnowledgeBase) -> None:
    answer = ask(engine, "What does soup cost according to menu.txt?")
    assert "only in: Menu" in answer.notices
    assert {hit.chunk.document_id for hit in answer.hits} == {"docs/menu.txt"}
    assert ask(engine, "What must guests know in the island guide 2022?").kind != "summary"


def test_searches_all_documents_named(engine: KnowledgeBase) -> None:
    question = "Compare menu.txt and guide.pdf: what do they say of prices?"
    assert {hit.chunk.document_id for hit in ask(engine, question).hits} == {"docs/menu.txt", "docs/guide.pdf"}
    both = "What is in menu.txt and in secret.txt about keys?"
    assert "only in: Menu" in ask(engine, both, reader=Reader(name="guest", groups=frozenset())).notices


def test_confines_a_search_to_the_document_of_a_month(tmp_path: Path) -> None:
    made = open_fast(tmp_path / "kb")
    texts = {
        "3 March 2026": "Present: Ann. Ben reports in April.",
        "7 April 2026": "Present: Ben. Ann was ill in March.",
    }
    minutes = [Document(id=date, title=f"Board meeting, {date}", text=text) for date, text in texts.items()]
    asyncio.run(made.documents.add([*minutes, Document(id="menu", title="Menu", text="Soup is four euros in March.")]))
    for question, id in (
        ("Who was present at the board meeting in March 2026?", "3 March 2026"),
        ("Who was present at the April meeting?", "7 April 2026"),
    ):
        answer = ask(made, question)
        assert {hit.chunk.document_id for hit in answer.hits} == {id}
        assert answer.notices == (f"only in: Board meeting, {id}",)
    assert len(ask(made, "Who was present in March?").hits) > 1
    made.close()


def test_replies_within_the_filter(engine: KnowledgeBase) -> None:
    def reply(question: str, where: str) -> str:
        return asyncio.run(engine.ask(question, where, reader=OWNER)).answer

    assert "Ada Berg" in reply("Which authors are there?", "title = 'Island guide 2022'")
    assert "Ada Berg" not in reply("Which authors are there?", "title = Menu")
    for question in ("How many documents are there?", "Summarize this"):
        assert reply(question, "date > 2030-01-01") == "No document fits that."


def test_shows_no_links_from_metadata(tmp_path: Path) -> None:
    engine, link = open_fast(tmp_path / "kb"), "[Ada](http://evil.example)"
    document = Document(id="a.md", text="Soup.\n", title=f"Soup\n- {link}", metadata={"author": link})
    asyncio.run(engine.documents.add([document]))
    try:
        questions = ("Which authors are there?", "Who wrote a.md?", "List all documents", "Summarize a.md", "hm")
        for question in questions:
            answer = ask(engine, question)
            assert "evil.example" not in answer.answer
            assert "- Ada\n" not in f"{answer.answer}\n"
    finally:
        engine.close()


def test_reads_a_question_without_courtesy_and_file_name(engine: KnowledgeBase) -> None:
    plain = ask(engine, "What does soup cost?")
    for question in ("Hello, what does soup cost?", "Thanks! What does soup cost?"):
        answer = ask(engine, question)
        assert (answer.question, answer.kind, answer.confidence) == (question, plain.kind, plain.confidence)
    confined = asyncio.run(engine.ask("What does soup cost?", "id = docs/menu.txt", reader=OWNER))
    assert ask(engine, "What does soup cost in menu.txt?").confidence == confined.confidence


def test_takes_it_for_what_was_asked_about(engine: KnowledgeBase) -> None:
    before = [Turn(question="What does soup cost?", answer="Four euros [1].")]
    assert ask(engine, "How does it work?").outcome == "reply"
    assert ask(engine, "How does it work?", before=before).outcome != "reply"
    assert ask(engine, "What can you do?", before=before).outcome == "reply"
    assert ask(engine, "How does it work?", before=[Turn(question="Hello", answer="Hello!")]).outcome == "reply"


def test_refuses_an_unknown_document_in_english(tmp_path: Path) -> None:
    engine = open_fast(tmp_path / "kb")
    asyncio.run(engine.documents.add([Document(id="a.csv", text="Director 100 200", title="Director")]))
    try:
        assert ask(engine, "summarize sal.md").answer.startswith("I couldn't find")
    finally:
        engine.close()


def test_number_alone_names_no_document(engine: KnowledgeBase) -> None:
    assert ask(engine, "What does article 2022 say?").outcome != "reply"
    assert ask(engine, "What does guide.pdf say?").outcome == "reply"


def test_asks_back_once(engine: KnowledgeBase) -> None:
    first = ask(engine, "hm")
    assert (first.outcome, first.kind, first.abstained) == ("clarification", "unclear", True)
    again = ask(engine, "hm", before=[Turn(question="hm", answer=first.answer)])
    assert again.outcome != "clarification"


def test_content_is_still_searched_for(engine: KnowledgeBase) -> None:
    assert ask(engine, "Which documents do I need for the ferry?").hits
    assert ask(engine, "Hello, what does soup cost?").hits


def test_asks_which_document_is_meant(tmp_path: Path) -> None:
    engine = open_fast(tmp_path / "kb", "respond.abstain_below=0.99")
    places = ("Museum", "Library", "Harbour")
    documents = [
        Document(id=f"d/{name}", text=f"The opening hours of this place are on its door, says {name}.", title=name)
        for name in places
    ]
    asyncio.run(engine.documents.add(documents))
    try:
        first = ask(engine, "opening hours")
        assert (first.outcome, first.kind) == ("clarification", "time")
        assert set(first.answer.split("\n")[1:]) == {f"- {name}" for name in places}
        second = ask(engine, "Museum", before=[Turn(question="opening hours", answer=first.answer)])
        assert second.outcome != "clarification"
        assert second.notices[:2] == ("only in: Museum", "understood as: opening hours")
        assert {hit.chunk.title for hit in second.hits} == {"Museum"}
    finally:
        engine.close()


def test_searches_for_a_follow_up_with_the_turn_before(engine: KnowledgeBase) -> None:
    before = [
        Turn(question="What does soup cost?", answer="Four euros [1]."),
        Turn(question="Thanks!", answer="Gladly."),
    ]
    answer = ask(engine, "And who eats it?", before=before)
    assert "understood as: What does soup cost? And who eats it?" in answer.notices
    assert "vector context" in {step.stage for hit in answer.hits for step in hit.why}


def test_answers_each_question_of_a_message(tmp_path: Path) -> None:
    engine = open_fast(tmp_path / "kb", "respond.abstain_below=0")
    texts = ("The north gate opens at seven.", "The pump is inspected every six months.")
    asyncio.run(engine.documents.add([Document(id=f"d/{n}", text=text) for n, text in enumerate(texts)]))
    try:
        answer = ask(engine, "When does the north gate open? And how often is the pump inspected?")
        assert answer.answer.startswith("(1) When does the north gate open?\n\n")
        assert "\n\n(2) How often is the pump inspected?\n\n" in answer.answer
        assert [one.marker for one in answer.citations] == list(range(1, len(answer.citations) + 1))
        said = [answer.answer[one.start : one.end] for one in answer.statements]
        quotes = {one.quote for one in answer.citations}
        assert len(said) >= 2
        assert all(any(quote in one for quote in quotes) for one in said)
    finally:
        engine.close()


def test_says_which_wishes_take_a_model(engine: KnowledgeBase) -> None:
    answer = ask(engine, "What does soup cost? Answer in German. As a table, please.")
    assert any("take" in one and "in German" in one and "table" in one for one in answer.notices)


def _titled(tmp_path: Path, *titles: str) -> KnowledgeBase:
    made = open_fast(tmp_path / "kb")
    documents = [Document(id=f"files/{n}.txt", title=title, text=f"{title}.") for n, title in enumerate(titles)]
    asyncio.run(made.documents.add(documents))
    return made


@pytest.mark.parametrize(
    ("question", "count"),
    [
        ("List the minutes", 2),
        ("show me all minutes of the garden club", 2),
        ("Which policies do we have?", 2),
        ("zeig mir alle Protokolle", 2),
        ("Which files are there about bicycles?", 1),
    ],
)
def test_lists_documents_of_a_kind(question: str, count: int, tmp_path: Path) -> None:
    made = _titled(
        tmp_path,
        "Minutes of the garden club, 2 May 2025",
        "Minutes of the garden club, 6 June 2025",
        "Smoking policy",
        "Privacy policy",
        "Protokoll der Bauleitung, Mai",
        "Protokoll der Bauleitung, Juni",
        "Parking bicycles",
    )
    answer = ask(made, question)
    assert (answer.kind, len(answer.citations)) == ("collection", count)
    made.close()


@pytest.mark.parametrize("question", ["List the minutes of delay", "List all contracts", "List all gardens in May"])
def test_searches_for_what_no_titles_name(question: str, tmp_path: Path) -> None:
    made = _titled(tmp_path, "Minutes of the garden club, 2 May 2025", "Minutes of the garden club, 6 June 2025")
    assert ask(made, question).kind != "collection"
    made.close()


@pytest.mark.parametrize("question", ["who was at the june meeting?", "What was said after the June meetings?"])
def test_month_in_small_letters_names_a_document(question: str, tmp_path: Path) -> None:
    made = _titled(tmp_path, "Meeting of the garden club, 2 September 2025", "Meeting of the garden club, 6 June 2025")
    assert ask(made, question).notices[:1] == ("only in: Meeting of the garden club, 6 June 2025",)
    made.close()
