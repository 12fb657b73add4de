"""Questions that need several passages, asked of real components: the steps, who sees them, and what they cost."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import pytest

from ragstone.core.access import OWNER, Reader
from ragstone.core.answers import Answer
from ragstone.core.records import Document, Evidence
from ragstone.core.timing import Timings
from ragstone.engine.knowledge_base import KnowledgeBase
from ragstone.engine.search import Search
from ragstone.question import read
from ragstone.serve.views import answers
from servers.openai_server import KEY, OpenAIServer

COUNTED = ("Bora", "Kelm", "Dask")
PLACES = ("Vorn", "Pell", "Ruhn", "Sorm", "Galt", "Imra")
ENGLISH = {
    "Orla Finch": "Orla Finch is a painter. The painter was born in the small village of Tresk in 1961.",
    "Tresk": "Tresk lies by the river Aun. 412 people live there, which is its population.",
    **{name: f"{name} is a village. The population of the village {name} is known since 1900." for name in COUNTED},
    **{name: f"{name} has a road and a mill." for name in PLACES},
    **{f"{name} school": f"Many a painter was born near the village school of {name}." for name in PLACES},
}
LITHUANIAN = {
    "Orla Finč": "Orla Finč yra tapytoja. Ši tapytoja gimė mažame Treskos kaime 1961 metais.",
    "Treska": "Treska stovi prie Auno upės. Joje gyvena 412 gyventojų.",
    **{name: f"{name} yra kaimas. Kaime {name} gyventojų skaičius žinomas nuo 1900 metų." for name in COUNTED},
    **{name: f"{name} turi kelią ir malūną." for name in PLACES},
    **{f"{name} mokykla": f"Ne viena tapytoja gimė prie {name} kaimo mokyklos." for name in PLACES},
}
QUESTION = "What is the population of the village where the painter Orla Finch was born?"
KLAUSIMAS = "Kiek gyventojų turi kaimas, kuriame gimė tapytoja Orla Finč?"
ONE_STEP, FEW = "query.steps=false", "rank.top_k=3"
STRANGER = Reader.of("nobody", name="nobody")


def documents(texts: Mapping[str, str], hidden: str = "") -> list[Document]:
    return [
        Document(id=title, title=title, text=text, metadata={"readers": ("hr",)} if title == hidden else {})
        for title, text in texts.items()
    ]


def made(folder: Path, texts: Mapping[str, str], *settings: str, hidden: str = "") -> Path:
    kb = KnowledgeBase.open(folder, settings, create=True)
    asyncio.run(kb.documents.add(documents(texts, hidden)))
    kb.close()
    return folder


@pytest.fixture(scope="module")
def english(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return made(tmp_path_factory.mktemp("steps") / "kb", ENGLISH)


@pytest.fixture(scope="module")
def restricted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return made(tmp_path_factory.mktemp("steps") / "kb", ENGLISH, hidden="Tresk")


def evidence(folder: Path, question: str, *settings: str, reader: Reader = OWNER, where: str = "") -> Evidence:
    kb = KnowledgeBase.open(folder, [FEW, "cache.enabled=false", *settings])
    with kb.current() as version:
        request = version.request(reader)
        found = asyncio.run(Search(version).evidence(read(question), where or None, 3, request, Timings()))
    kb.close()
    return found


def ask(folder: Path, question: str, *settings: str) -> Answer:
    kb = KnowledgeBase.open(folder, [FEW, *settings])
    answer = asyncio.run(kb.ask(question, reader=OWNER))
    kb.close()
    return answer


def titles(found: Evidence) -> list[str]:
    return [hit.chunk.title for hit in found.hits]


def test_a_bridge_is_crossed(english: Path) -> None:
    assert "Tresk" not in titles(evidence(english, QUESTION, ONE_STEP))
    found = evidence(english, QUESTION)
    assert {"Orla Finch", "Tresk"} <= set(titles(found))
    assert "found Orla Finch, then searched for Tresk" in map(str, found.steps)
    scores = [hit.score for hit in found.hits]
    assert scores == sorted(scores, reverse=True)
    (joined,) = (hit for hit in found.hits if hit.chunk.title == "Tresk")
    assert joined.why[-1].note == "found Orla Finch, then searched for Tresk"


def test_a_bridge_is_crossed_in_lithuanian(tmp_path: Path) -> None:
    folder = made(tmp_path / "kb", LITHUANIAN, "index.embedder=e5-small")
    assert "Treska" not in titles(evidence(folder, KLAUSIMAS, ONE_STEP))
    assert {"Orla Finč", "Treska"} <= set(titles(evidence(folder, KLAUSIMAS)))


def test_each_part_of_a_comparison_has_a_place(tmp_path: Path) -> None:
    texts = {f"Kelm {n}": f"Kelm is old, and older than other towns; part {n}." for n in range(6)}
    folder = made(tmp_path / "kb", {**texts, "Dask": "The town hall of Dask was founded in 1204."})
    question = "Which town is older, Kelm or Dask?"
    assert "Dask" in titles(evidence(folder, question))


@pytest.mark.parametrize("question", ["What is the population of Bora?", "When was Orla Finch born?", "painter"])
def test_a_plain_question_is_searched_once(english: Path, question: str) -> None:
    once, found = evidence(english, question, ONE_STEP), evidence(english, question)
    assert found.steps == ()
    assert [(hit.chunk.id, hit.score) for hit in found.hits] == [(hit.chunk.id, hit.score) for hit in once.hits]


def test_steps_show_nothing_of_hidden_documents(restricted: Path) -> None:
    assert "Tresk" in titles(evidence(restricted, QUESTION))
    found = evidence(restricted, QUESTION, reader=STRANGER)
    assert "Tresk" not in titles(found)
    assert all("412" not in hit.chunk.text for hit in found.hits)
    assert all(hit.chunk.title != "Tresk" and step.searched != "Tresk" for hit in found.hits for step in found.steps)


def test_a_filter_holds_for_further_searches(english: Path) -> None:
    found = evidence(english, QUESTION, where='title != "Tresk"')
    assert "Orla Finch" in titles(found)
    assert "Tresk" not in titles(found)


def test_the_answer_tells_its_steps(english: Path) -> None:
    first, again = ask(english, QUESTION), ask(english, QUESTION)
    assert "search" in again.usage.cached
    for answer in (first, again):
        (step,) = (one for one in answer.to_dict()["steps"] if one["searched"] == "Tresk")
        assert step["found"] == "Orla Finch"
    explained = "\n".join(map(str, answers.explanation(again)))
    assert "found Orla Finch, then searched for Tresk" in explained


# ---------------------------------------------------------------- a model plans
@pytest.fixture
def server() -> Iterator[OpenAIServer]:
    def reply(messages: Sequence[Mapping[str, str]]) -> str:
        key = re.findall(r'"key": "(\w+)"', messages[0]["content"])
        return json.dumps({"key": key[-1], "searches": ["river Aun"]}) if key else "I do not know."

    with OpenAIServer(reply) as server:
        yield server


def with_model(server: OpenAIServer, *more: str) -> list[str]:
    named = ["respond.model.name=openai:gpt-4o-mini", f"services.openai.api_key={KEY}"]
    return [*named, f"services.openai.base_url={server.url}", "services.retries=0", *more]


def test_a_model_plans_under_its_limit(english: Path, server: OpenAIServer) -> None:
    found = evidence(english, QUESTION, *with_model(server, "query.planned_steps=2"))
    assert [step.searched for step in found.steps if step.by_model] == ["river Aun"]
    assert "Tresk" in titles(found)
    assert len(server.asked) == 2  # what it names a second time is not new


@pytest.mark.parametrize("more", ["query.planned_steps=0", ONE_STEP])
def test_a_model_does_not_plan_if_told(english: Path, server: OpenAIServer, more: str) -> None:
    evidence(english, QUESTION, *with_model(server, more))
    assert server.asked == []


def test_a_model_that_fails_leaves_the_other_steps(english: Path) -> None:
    gone = ["respond.model.name=openai:gpt-4o-mini", f"services.openai.api_key={KEY}", "services.retries=0"]
    found = evidence(english, QUESTION, *gone, "services.openai.base_url=http://127.0.0.1:9")
    assert "Tresk" in titles(found)
    assert any("No further search was planned" in one for one in found.missing)
