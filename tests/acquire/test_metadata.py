"""Metadata derived from texts, and its quality on labelled press releases."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from ragstone.acquire import read
from ragstone.acquire.metadata import companies, dates, topics
from ragstone.acquire.metadata.enrich import enrich
from ragstone.core.records import Document
from ragstone.settings import AcquireSettings, MetadataSettings
from ragstone.settings.load import load

SETTINGS = MetadataSettings(company_topics=True)
LABELS = json.loads((Path(__file__).parent / "labels" / "telekom.json").read_text(encoding="utf-8"))
PIECES = [
    "Acme AG",
    "CEO of ",
    "3. Mai 2020",
    "2024 m. ",
    "partner ",
    "5G",
    " ",
    "\n",
    "„",
    "’s",
    "UAB ",
    "& ",
    "İ",
    "ß",
]


def test_derives_metadata_of_a_press_release() -> None:
    text = "On 9 June 2024 Acme AG opened its 5G lab. 5G partners may use the 5G network."
    document = Document(id="press/12.txt", text=text, metadata={"path": "press/12.txt", "kind": "text"})
    assert enrich(document, MetadataSettings(publisher="Acme", company_topics=True)).metadata == {
        "path": "press/12.txt",
        "kind": "text",
        "publication_id": "12",
        "source": "Acme",
        "language": "en",
        "content_hash": hashlib.sha256(text.encode()).hexdigest(),
        "word_count": 17,
        "mentioned_dates": ("2024-06-09",),
        "mentioned_companies": ("Acme", "Acme AG"),
        "topics": ("5G",),
    }


def test_metadata_of_the_source_wins() -> None:
    facts = {"path": "news.csv", "language": "ms", "source": "Bernama"}
    document = Document(id="news.csv#d7", text="This is plain English text.", metadata=facts)
    found = enrich(document, MetadataSettings(publisher="Someone")).metadata
    assert found == {
        **facts,
        "publication_id": "d7",
        "word_count": 5,
        "content_hash": document.content_hash,
    }
    assert enrich(document, MetadataSettings(enabled=False)) is document


def test_settings_add_replace_and_drop_topics() -> None:
    text = "Fibre to the home: fibre-optic lines. Fibre! 5G, 5G, 5G. Security of the security guard's security."
    own = MetadataSettings.model_validate(
        {"company_topics": True, "topics": {"Fibre": ["fibre"], "5G": [], "Security": ["security guard*"]}}
    )
    assert topics.find(text, SETTINGS) == ("5G", "Security")
    assert topics.find(text, own) == ("Fibre",)
    # A phrase at the very end, and words that also begin another phrase.
    assert topics.find(text, MetadataSettings()) == (), "what a funeral home writes is no product news"
    assert topics.find("data data protection " * 3, MetadataSettings(company_topics=True)) == ("Security",)


@given(st.one_of(st.text(), st.lists(st.sampled_from(PIECES)).map("".join)), st.text(max_size=5))
def test_metadata_is_deterministic(text: str, title: str) -> None:
    document = Document(id="a.txt", text=text, title=title)
    once = enrich(document, SETTINGS)
    assert once == enrich(document, SETTINGS) == enrich(once, SETTINGS)
    assert (once.id, once.text, once.title) == (document.id, document.text, document.title)


# ---------------------------------------------------------------- measured on labelled texts


def measured(data_dir: Path, find: Callable[[str], tuple[str, ...]], kind: str) -> tuple[float, float]:
    """Return precision and recall over all labelled documents."""
    right = found_in_all = hits = wanted_in_all = 0
    for name, labels in LABELS.items():
        text = (data_dir / "telekom_press" / "dev" / "txt" / f"{name}.txt").read_text(encoding="utf-8")
        found = {*find(text)}
        wanted = [{*names} if isinstance(names, list) else {names} for names in labels[kind]]
        neutral = {*labels["neutral"]} if kind == "companies" else set[str]()
        matched = sum(bool(found & names) for names in wanted)
        wrong = found.difference(neutral, *wanted)
        right, found_in_all = right + matched, found_in_all + matched + len(wrong)
        hits, wanted_in_all = hits + matched, wanted_in_all + len(wanted)
    return right / found_in_all, hits / wanted_in_all


def test_dates_of_labelled_press_releases(data_dir: Path) -> None:
    precision, recall = measured(data_dir, dates.find, "dates")
    assert precision > 0.97  # 1.0, of 33 dates
    assert recall > 0.97


def test_companies_of_labelled_press_releases(data_dir: Path) -> None:
    precision, recall = measured(data_dir, _plain_names, "companies")
    assert precision > 0.87  # 0.898, of 130 names
    assert recall > 0.72  # 0.746


def _plain_names(text: str) -> tuple[str, ...]:
    """Names as they are labelled: without the legal form."""
    forms = r" (AG|SE|SA|SpA|NV|AB|ASA|Oyj|(g?GmbH|Inc|Corp|Corporation|Co|LLC|Limited|Ltd|Plc|plc|PLC|KGaA|KG)\b.*)$"
    return tuple(name for name in companies.find(text) if not re.search(forms, name))


def test_topics_of_labelled_press_releases(data_dir: Path) -> None:
    precision, recall = measured(data_dir, lambda text: topics.find(text, SETTINGS), "topics")
    assert precision > 0.64  # 0.672, of 53 topics
    assert recall > 0.78  # 0.811


def test_derives_metadata_of_a_news_table(data_dir: Path) -> None:
    settings: AcquireSettings = load(preset="news").settings.acquire
    folder = data_dir / "malaysian_news" / "dev"
    news = [one for one in read(str(folder / "news.csv"), settings, base=folder) if isinstance(one, Document)]
    facts = [one.metadata for one in news]
    assert len(news) == 2358
    assert all(one.title and one.url for one in news)
    # Real gaps in the source: only the fact is missing.
    assert sum("timestamp" not in one for one in facts) == 61
    assert sum("author" not in one for one in facts) == 1143
    assert all(isinstance(one.get("keywords", ()), tuple) for one in facts)
    assert {one["language"] for one in facts} == {"ms", "en"}
    assert sum("mentioned_dates" in one for one in facts) > 100
    assert sum("mentioned_companies" in one for one in facts) > 500
