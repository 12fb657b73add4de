"""The same files answer alike wherever they lie."""

from __future__ import annotations

import asyncio
from contextlib import closing
from pathlib import Path

import pytest

from ragstone.core.access import OWNER
from ragstone.core.answers import Outcome
from ragstone.engine.jobs.worker import Worker
from ragstone.engine.knowledge_base import KnowledgeBase

FILES = {
    "pump.md": "# Pump station handbook\n\nThe pump at the north gate runs at 4.2 bar. It was installed in March 2019."
    "\n\nThe pump must be inspected every six months. The inspection takes two hours.\n\nThe night shift calls the"
    " control room under extension 7755.\n",
    "gates/gate.md": "# Gates\n\nThe north gate opens at seven and closes at nine in the evening.\n",
    "leave.md": "# Leave policy\n\nEmployees have 28 days of paid leave a year. Sick leave is reported by telephone.\n",
    "parts.csv": "id,part,price\n1,impeller,90\n2,seal,12\n",
}
QUESTIONS = ("Who do I call at night?", "At what pressure does the pump run?", "What does the impeller cost?")
PLACES = (
    "docs",
    "zzz",
    "p1/docs",
    "pressure-north-gate",
    "night/call",
    "a/b/c/d",
    "2024",
    "impeller price list",
    "Handbücher",
    "elsewhere/leave",
)
Told = list[tuple[str, Outcome, float]]


def write(folder: Path) -> Path:
    for name, text in FILES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    return folder


def answers(engine: KnowledgeBase) -> Told:
    asked = [asyncio.run(engine.ask(question, reader=OWNER)) for question in QUESTIONS]
    return [(one.answer, one.outcome, one.confidence) for one in asked]


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory) -> Told:
    folder = tmp_path_factory.mktemp("first")
    with closing(KnowledgeBase.open(folder / "kb", create=True)) as engine:
        asyncio.run(engine.documents.add([str(write(folder / "docs"))]))
        return answers(engine)


@pytest.mark.parametrize("place", PLACES)
def test_folder_name_changes_no_answer(expected: Told, tmp_path: Path, place: str) -> None:
    home = tmp_path / "far" / "kb" if place.startswith("elsewhere") else tmp_path / "kb"
    with closing(KnowledgeBase.open(home, create=True)) as engine:
        asyncio.run(engine.documents.add([str(write(tmp_path / place))]))
        assert answers(engine) == expected


def test_queued_files_are_stored_like_added_ones(expected: Told, tmp_path: Path) -> None:
    with closing(KnowledgeBase.open(tmp_path / "kb", create=True)) as engine:
        source = str(write(tmp_path / "queued"))
        engine.documents.queue_add([source])
        asyncio.run(Worker(engine, lambda _: None, print).run(until_empty=True))
        assert answers(engine) == expected
        assert asyncio.run(engine.documents.sync([source])).updated == 0
