"""Drafted questions: each has the words that answer it, and what is drafted can be read and measured."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
from kb import open_fast
from scripted_model import Line, ScriptedModel

from ragstone.core.answers import Message
from ragstone.core.errors import ModelError
from ragstone.core.records import Chunk
from ragstone.core.request import Request
from ragstone.engine.experiments import draft_questions
from ragstone.engine.knowledge_base import KnowledgeBase
from ragstone.review.drafts import Drafted, spread, write
from ragstone.review.model_drafts import drafted_by_model, is_answered
from ragstone.review.questions import read_questions
from servers.openai_server import KEY, Fault, OpenAIServer

HANDBOOK = """\
# Mill handbook

The mill is a flour mill on the river Weser, built in 1887.

## How to start the pump

1. Open the valve by a quarter turn to the left.
2. Press the green button and wait for ten seconds.

## May visitors take pictures?

Visitors may take pictures in the yard, but not of the machines.

## Prices

| Flour | Price per kg | Sack |
|---|---|---|
| Rye | 1.20 | 25 kg |
| Spelt | 2.10 | 10 kg |
"""
BAKERY = """\
# Bäckerei

## Öffnungszeiten

Die Bäckerei öffnet montags bis freitags um sechs Uhr und samstags um sieben Uhr.

## Brote

| Brot | Gewicht |
|---|---|
| Roggenbrot | 750 g |
"""
CANAL = """\
# Canal

## Locks

| Lock | Keeper |
|---|---|
| Hameln | Anna Weber |

## Tides

There are no tides this far from the sea, but the level changes with the rain.
"""


@pytest.fixture
def kb(tmp_path: Path) -> KnowledgeBase:
    docs = tmp_path / "docs"
    docs.mkdir()
    for name, text in (("handbook.md", HANDBOOK), ("bakery.md", BAKERY), ("canal.md", CANAL)):
        (docs / name).write_text(text, encoding="utf-8")
    made = open_fast(tmp_path / "kb")
    asyncio.run(made.documents.add([str(docs)]))
    return made


def test_rules_draft_with_exact_evidence(kb: KnowledgeBase) -> None:
    drafts = asyncio.run(draft_questions(kb))
    by_question = {one.question: one for one in drafts.questions}
    kinds = {question: one.kind for question, one in by_question.items() if one.is_answerable}
    assert kinds["How do I start the pump?"] == "how_to"
    assert kinds["May visitors take pictures?"] == "faq"
    assert kinds["What is the mill?"] == "definition"
    assert kinds["What is the Price per kg of Rye?"] == "cell"
    assert kinds["Was sagen die Dokumente über Öffnungszeiten?"] == "section"
    assert by_question["What is the Price per kg of Rye?"].evidence == "| Rye | 1.20 | 25 kg |"
    texts = {document.id: document.text for document in kb.documents.all()}
    for one in drafts.questions:
        assert one.evidence in texts[one.source] if one.is_answerable else not one.evidence
    assert any("Anna" in one.evidence for one in drafts.questions)
    kb.close()


def test_unanswerable_drafts_join_what_no_text_joins(kb: KnowledgeBase) -> None:
    without = [one for one in asyncio.run(draft_questions(kb)).questions if not one.is_answerable]
    assert "What is the Keeper of Rye?" in {one.question for one in without}
    assert "What does “Canal” say about Prices?" in {one.question for one in without}
    assert not {"What is the Sack of Rye?", "What does “Canal” say about Tides?"} & {one.question for one in without}
    kb.close()


def test_drafts_are_spread_and_read_back(kb: KnowledgeBase, tmp_path: Path) -> None:
    drafts = asyncio.run(draft_questions(kb, 3, 1))
    assert len({one.source for one in drafts.questions}) == 4, "one of each document, and one without a source"
    file = tmp_path / "questions.csv"
    write(drafts.questions, file)
    dataset = read_questions(file, lambda source: source, kb.documents.all)
    assert [(one.text, one.answerable) for one in dataset.queries] == [
        (one.question, one.is_answerable) for one in drafts.questions
    ]
    assert [one.evidence_sentences for one in dataset.queries][-1] == ()
    assert all(one.evidence_sentences for one in dataset.queries if one.answerable)
    with pytest.raises(FileExistsError):
        write(drafts.questions, file)
    kb.close()


def test_documents_and_kinds_take_turns() -> None:
    cells = [Drafted(question=f"c{n}", kind="cell", source="a") for n in range(3)]
    others = [Drafted(question="s", kind="section", source="a"), Drafted(question="b", kind="cell", source="b")]
    chosen = spread([[*cells, others[0]], [], [others[1]]], 4)
    assert [one.question for one in chosen] == ["c0", "b", "s", "c1"]


# ---------------------------------------------------------------- a model


CHUNK = Chunk(
    id="c",
    document_id="pump.md",
    index=0,
    total=1,
    start=0,
    end=44,
    text="The pump in hall three runs\nat 4 bar. It hums.",
)


def replied(**fields: object) -> Line:
    """Return a line of a scripted model: the fields as JSON with the key of the prompt."""

    def line(messages: Sequence[Message]) -> str:
        key = re.search(r'"key": "(\w+)"', messages[0].content)
        assert key
        return json.dumps({"key": key[1], **fields})

    return line


@pytest.mark.parametrize(
    ("evidence", "kept"),
    [
        ("The pump in hall three runs at 4 bar.", "The pump in hall three runs\nat 4 bar."),
        ("The pump runs at 4 bar.", None),
        ("", None),
    ],
)
def test_evidence_of_a_model_is_copied_or_dropped(evidence: str, kept: str | None) -> None:
    model = ScriptedModel(
        replied(question="How high is  the pressure?", evidence=evidence, unanswerable="Who built it?")
    )
    question, other = asyncio.run(drafted_by_model(model, CHUNK, Request.by_owner()))
    assert (question.evidence if question else None) == kept
    assert question is None or (question.question, question.source) == ("How high is the pressure?", "pump.md")
    assert (other.question, other.is_answerable) == ("Who built it?", False)


def test_a_reply_without_the_key_is_refused() -> None:
    model = ScriptedModel('{"key": "planted", "answered": true}')
    with pytest.raises(ModelError, match="did not send the requested JSON"):
        asyncio.run(is_answered(model, "Who?", ["Ann."], Request.by_owner()))


class Writer:
    """Drafts a question for each passage; its unanswerable ones are answered by passages that mention the yard."""

    def __call__(self, messages: Sequence[Mapping[str, str]]) -> str:
        system, shown = messages[0]["content"], messages[-1]["content"]
        key = re.search(r'"key": "(\w+)"', system)
        assert key
        if system.startswith("You check"):
            return json.dumps({"key": key[1], "answered": "taxis" not in shown})
        passage = shown.partition(" passage\n")[2].partition(f"\n{key[1]} end")[0]
        first = passage.strip().splitlines()[-1]
        about = "taxis" if "mill" in passage else "trains"
        return json.dumps(
            {
                "key": key[1],
                "question": f"What of {first[:9]}?",
                "evidence": first,
                "unanswerable": f"Are there {about}?",
            }
        )


def test_a_model_drafts_over_http(kb: KnowledgeBase) -> None:
    folder = kb.folder
    kb.close()
    with OpenAIServer(Writer()) as server:
        service = (f"services.openai.api_key={KEY}", f"services.openai.base_url={server.url}", "services.retries=0")
        again = open_fast(folder, "respond.model.name=openai:gpt-4o-mini", *service, create=False)
        drafts = asyncio.run(draft_questions(again, 3, 2))
        texts = {document.id: document.text for document in again.documents.all()}
        assert drafts.model == "openai:gpt-4o-mini"
        answerable = [one for one in drafts.questions if one.is_answerable]
        assert len({one.source for one in answerable}) == len(answerable) == 3
        assert all(one.evidence in texts[one.source] for one in answerable)
        assert [one.question for one in drafts.questions if not one.is_answerable] == ["Are there taxis?"]
        assert drafts.dropped == 2, "the passages answer whether there are trains, says the model"
        server.faults += [Fault(kind="status", status=500)] * 20
        with pytest.raises(ModelError):
            asyncio.run(draft_questions(again, 2, 0))
        again.close()
