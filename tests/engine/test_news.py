"""The preset news from its CSV to feedback: with a model and web search over their own protocols, and without both."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from kb import FAST

from benchmarks.news import WebOnLoopback, became, through_web, written
from ragstone.core.access import OWNER
from ragstone.core.answers import Answer
from ragstone.engine.knowledge_base import KnowledgeBase
from ragstone.review.heuristic import NAME as STAND_IN
from servers.openai_server import KEY, OpenAIServer

pytestmark = pytest.mark.usefixtures("workdir")
HEAD = "id,search_id,news_id,title,article_content,summary,url,image_url,timestamp,original_timestamp,author,authors"
HEAD += ",article_language,source_country,total_engagement,sentiment,created_at"
ROWS = (
    "1,s1,n1,Agrobank,Agrobank ditubuhkan pada tahun 1969 di Kuala Lumpur.,Bank pertanian.,https://news.example/a,,"
    '05-06-18 9:30,,A. Penulis,"[""A. Penulis""]",ms,MY,12,positive,2018-06-05T09:30:00',
    "2,s1,n2,Tram for Putrajaya,The proposed tram will connect Putrajaya and Cyberjaya.,,,,,,,,en,MY,,,",
)


@pytest.fixture
def articles(workdir: Path) -> str:
    (workdir / "news.csv").write_text("\n".join([HEAD, *ROWS]), encoding="utf-8")
    return "news.csv"


@pytest.fixture
def web() -> Iterator[WebOnLoopback]:
    with WebOnLoopback() as web:
        yield web


def asked(articles: str, settings: list[str], *questions: str) -> list[Answer]:
    # The embedder of the tests knows no meanings, so nothing is left to the estimate that was fitted to others.
    plain = [FAST[0], "rank.reranker=none", "respond.abstain_below=0.2", "query.web.threshold=0.3"]
    with closing(KnowledgeBase.open("kb", [*plain, *settings], preset="news", create=True)) as engine:
        asyncio.run(engine.documents.add([articles]))
        assert engine.settings.index.vectors == "faiss:Flat"
        answers = [asyncio.run(engine.ask(question, reader=OWNER)) for question in questions]
        told = engine.history.rate(answers[0].response_id, vote="up", reason="tepat", reader=OWNER)
        assert told.vote == "up"
    return answers


def test_offline_an_answer_is_quoted_and_judged_by_a_stand_in(articles: str, web: WebOnLoopback) -> None:
    settings = [*through_web(web), "respond.model.name=extractive"]
    questions = ("Agrobank ditubuhkan pada tahun apa?", "Which towns will the tram connect?")
    malay, english = asked(articles, settings, *questions)
    assert "Agrobank ditubuhkan pada tahun 1969" in malay.answer
    assert "connect Putrajaya and Cyberjaya" in english.answer
    (source,) = malay.sources
    assert (source.type, source.title, source.author) == ("internal", "Agrobank", "A. Penulis")
    assert (source.url, source.sentiment) == ("https://news.example/a", "positive")
    assert malay.retrieval_method == "hybrid_search"
    assert not malay.web_search_triggered
    assert malay.judge_scores
    assert malay.judge_scores.judge == STAND_IN
    assert malay.timestamp


def test_a_model_writes_and_judges_and_the_web_is_searched_for_what_the_articles_lack(
    articles: str, web: WebOnLoopback
) -> None:
    with OpenAIServer(written) as model:
        settings = [
            *through_web(web),
            "respond.model.name=openai:on-loopback",
            f"services.openai.base_url={model.url}",
            f"services.openai.api_key={KEY}",
        ]
        questions = (
            "Agrobank ditubuhkan pada tahun apa?",
            "Berapakah harga petrol RON95 minggu ini?",
            "How deep is Baikal?",
        )
        stored, outside, refused = asked(articles, settings, *questions)
    assert stored.answer == "Agrobank ditubuhkan pada tahun 1969 di Kuala Lumpur. [Source 1]"
    assert stored.judge_scores
    assert stored.judge_scores.judge == "openai:on-loopback"
    assert became(outside) == "web"
    assert "RM2.05" in outside.answer
    assert outside.web_search_triggered
    assert outside.sources[0].relevance_score == 0.8
    assert any("The web was searched because" in told for told in outside.notices)
    assert became(refused) == "refusal"
    assert [one.body["query"] for one in web.asked] == list(questions[1:])
    assert web.asked[0].body["numResults"] == 3
