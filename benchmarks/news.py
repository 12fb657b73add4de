"""The preset `news` from end to end: how often it finds the right article, and questions as a user asks them.

The first part asks the headlines of articles that are stored without them. The second adds the CSV of articles and asks
in Malay and English what the articles answer, what only the web answers, and what nothing answers. It runs twice, each
time with a web search on loopback: with quoted answers and the offline judge, and with a language model on loopback.
Neither that web nor that model is real; both are a few lines below. The run shows what Ragstone does with them, not how
well models write.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from benchmarks.bases import NO_CACHE, opened, with_settings
from benchmarks.common import Options, Result, Table, main, progress, skipped
from ragstone.core.access import OWNER
from ragstone.core.answers import Answer
from ragstone.core.errors import UsageError
from ragstone.core.records import Hit
from ragstone.engine.experiments import add_corpus
from ragstone.engine.knowledge_base import KnowledgeBase
from ragstone.respond.writing.prompt import REFUSAL
from ragstone.review.dataset import Dataset, load
from ragstone.review.evaluate import Search, evaluate
from servers.exa_server import KEY as EXA_KEY
from servers.exa_server import ExaServer
from servers.openai_server import KEY, OpenAIServer
from servers.searching import Asked

SET = "malaysian_news"
WAYS = {
    "vectors alone": ("query.method=vector", "rank.reranker=none"),
    "keywords alone": ("query.method=bm25", "rank.reranker=none"),
    "both, by rank": ("rank.reranker=none",),
    "both, reranked": (),
}
PLACES = 20
LIMIT, QUICK_LIMIT = 120, 20
SHOWN = 60
"""The characters of a sentence that are shown, because the articles belong to their newspapers."""
WEB = [
    ("Harga petrol", "Pejabat Media", "Harga petrol RON95 minggu ini ialah RM2.05 seliter, kata kementerian."),
    ("Ferry timetable", "Harbour Office", "The ferry to Langkawi leaves at nine o'clock today."),
]
"""The made-up pages of the web on loopback."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A question, where its answer should come from, and the article with the answer, if any."""

    question: str
    wanted: str
    article: str = ""


CASES = (
    Case(question="Bilakah Agrobank ditubuhkan?", wanted="articles", article="d00296"),
    Case(question="Apakah mandat Agrobank dalam sektor pertanian?", wanted="articles", article="d00296"),
    Case(question="What does SPAD say about a tram system?", wanted="articles", article="d00569"),
    Case(question="How quickly did Port Dickson police solve the car theft?", wanted="articles", article="d00661"),
    Case(question="Berapakah harga petrol RON95 minggu ini?", wanted="web"),
    Case(question="When does the ferry to Langkawi leave today?", wanted="web"),
    Case(question="Siapakah yang mencipta teleskop Hubble?", wanted="refusal"),
    Case(question="How deep is Lake Baikal?", wanted="refusal"),
)


async def measure(options: Options) -> Result:
    folder = options.folder(SET)
    if folder is None:
        return skipped(f"the preset news is measured on {SET}")
    dataset = load(folder)
    kb = options.keep / "news"
    runs: dict[str, list[tuple[Case, Answer]]] = {}
    with WebOnLoopback() as web:
        runs["offline"] = await _ask(kb, folder / "dev" / "news.csv", _offline(web))
        with OpenAIServer(written) as model:
            runs["services"] = await _ask(kb, folder / "dev" / "news.csv", _services(web, model))
    return summary(await _found(options, dataset), runs)


# ---------------------------------------------------------------- how often the right article is found


async def _found(options: Options, dataset: Dataset) -> dict[str, dict[str, float]]:
    """Return the shares of headlines whose article is among the best 20 and 5, for each way of searching."""
    found: dict[str, dict[str, float]] = {}
    with opened(options.keep / "preset-news", NO_CACHE, preset="news") as engine:
        await add_corpus(engine, dataset, lambda message: progress(f"{SET}: {message}"))
        for way, settings in WAYS.items():
            chosen = (*NO_CACHE, *settings, f"index.embedder={engine.settings.index.embedder}")
            one = with_settings(engine, chosen, preset="news")
            limit = QUICK_LIMIT if options.quick else LIMIT if way == "both, reranked" else None
            report = await evaluate(dataset, _as_asked(one), limit=limit)
            names = ("recall@20", "recall@5", "mrr@10")
            found[way] = {name: report.measures[name].mean for name in names} | {"questions": report.judged}
            progress(f"{way}: {found[way]}")
    return found


def _as_asked(engine: KnowledgeBase) -> Search:
    async def search(text: str, _: int, /) -> Sequence[Hit]:
        return await engine.search(text, PLACES, reader=OWNER)

    return search


# ---------------------------------------------------------------- questions as a user asks them


class WebOnLoopback(ExaServer):
    """Exa with two pages; it finds those that share two words with the query."""

    def answer(self, asked: Asked) -> tuple[int, Any]:
        status, body = super().answer(asked)
        if status == 200:
            body["results"] = list(_pages(asked.body["query"]))
        return status, body


def _pages(query: str) -> Iterator[dict[str, Any]]:
    for number, (title, author, text) in enumerate(WEB):
        if len(_words(query) & _words(f"{title} {text}")) > 1:
            url = f"https://news.example/{number}"
            yield {"id": url, "url": url, "title": title, "author": author, "score": None, "text": text}


def _words(text: str) -> set[str]:
    """Return the first five letters of each word of four letters or more; most forms of a word share them."""
    return {word[:5] for word in re.findall(r"\w+", text.casefold()) if len(word) > 3}


def written(messages: Sequence[Mapping[str, str]]) -> str:
    """Return the sentence with most of the question's words, or a judgement by the share of them that is there."""
    system, asked = messages[0]["content"], messages[-1]["content"]
    if key := re.search(r'"key": "([^"]+)"', system):
        question, _, passages = asked.partition(f"{key[1]} end of question")
        wanted = _words(question.partition("\n")[2])
        share = len(wanted & _words(passages)) / max(1, len(wanted))
        mark = round(10 * share)
        if "needs_web_search" in system:
            form = {"confidence": mark, "reasoning": "words counted", "needs_web_search": mark < 5}
        else:
            form = {"relevance": mark, "factuality": 9, "completeness": mark, "feedback": ""}
        return json.dumps({"key": key[1], **form})
    *sources, question = re.split(r"--- end \w+\n", asked)
    best, most = REFUSAL, 2
    for source in sources:
        marker, _, text = source.partition("\n")[2].partition("] ")
        for sentence in re.split(r"(?<=[.!?])\s+", text.partition("\n")[2]):
            if (shared := len(_words(sentence) & _words(question))) >= most:
                best, most = f"{' '.join(sentence.split())} {marker}]", shared
    return best


def _offline(web: ExaServer) -> list[str]:
    return [*through_web(web), "respond.model.name=extractive"]


def _services(web: ExaServer, model: OpenAIServer) -> list[str]:
    address = f"services.openai.base_url={model.url}"
    return [*through_web(web), "respond.model.name=openai:on-loopback", address, f"services.openai.api_key={KEY}"]


def through_web(web: ExaServer) -> list[str]:
    return [f"services.exa.base_url={web.url}", f"services.exa.api_key={EXA_KEY}"]


async def _ask(kb: Path, articles: Path, settings: Sequence[str]) -> list[tuple[Case, Answer]]:
    answers: list[tuple[Case, Answer]] = []
    with opened(kb, (*NO_CACHE, *settings), preset="news") as engine:
        report = await engine.documents.add([str(articles)])
        progress(f"{report.added} articles added, {report.unchanged} unchanged")
        for case in CASES:
            answer = await engine.ask(case.question, reader=OWNER)
            engine.history.rate(
                answer.response_id, vote="up" if became(answer) == case.wanted else "down", reader=OWNER
            )
            answers.append((case, answer))
            progress(f"{case.question} {became(answer)}; {case.wanted} wanted")
        try:
            engine.history.rate(answers[0][1].response_id, vote="up", reader=OWNER)
        except UsageError as error:
            progress(str(error))
    return answers


def became(answer: Answer) -> str:
    """Return what a question was answered from."""
    if answer.abstained:
        return "refusal"
    return "web" if any(one.type == "web" for one in answer.sources) else "articles"


# ---------------------------------------------------------------- tables


def summary(found: Mapping[str, Mapping[str, float]], runs: Mapping[str, Sequence[tuple[Case, Answer]]]) -> Result:
    rows = [
        [way, f"{one['questions']:.0f}", *(f"{one[name]:.3f}" for name in ("recall@20", "recall@5", "mrr@10"))]
        for way, one in found.items()
    ]
    columns = ["search", "headlines", "article among 20", "among 5", "MRR@10"]
    tables = [Table(title="Headlines asked of the articles without them", columns=columns, rows=rows)]
    right: dict[str, int] = {}
    for name, answers in runs.items():
        right[name] = sum(_is_right(case, answer) for case, answer in answers)
        rows = [_row(case, answer) for case, answer in answers]
        columns = ["question", "answer", "from", "sources", "confidence", "marks", "web searched", "ms"]
        tables.append(Table(title=TITLES[name], columns=columns, rows=rows))
    one = runs["offline"][0][1]
    tables.append(Table(title="One answer whole", columns=["field", "value"], rows=list(_fields(one))))
    notes = [f"As wanted: {name} {count} of {len(CASES)}." for name, count in right.items()]
    return Result(figures={"found": found, "right": right}, tables=tables, notes=notes)


TITLES = {
    "offline": "Offline but for the web on loopback: quoted answers, marks by counting words",
    "services": "With a model and a web on loopback, over the protocols of OpenAI and Exa",
}


def _is_right(case: Case, answer: Answer) -> bool:
    has_article = not case.article or any(case.article in one.document_id for one in answer.sources)
    return became(answer) == case.wanted and has_article


def _row(case: Case, answer: Answer) -> list[str]:
    scores = answer.judge_scores
    marks = f"{scores.relevance:g} / {scores.factuality:g} / {scores.completeness:g}" if scores else ""
    sources = "; ".join(f"{one.type}: {one.title}" for one in answer.sources)
    text = " ".join(_cut(line) for line in answer.answer.splitlines()[: 1 if answer.abstained else 3])
    wanted = "" if _is_right(case, answer) else f" ({case.wanted} wanted)"
    took = f"{answer.timings_ms['total']:.0f}"
    searched = "yes" if answer.web_search_triggered else ""
    return [case.question, text, became(answer) + wanted, sources, f"{answer.confidence:.2f}", marks, searched, took]


def _fields(answer: Answer) -> Iterator[list[str]]:
    """Yield the fields of a news assistant's response."""
    yield ["response_id", answer.response_id]
    yield ["answer", " ".join(map(_cut, answer.answer.splitlines()))]
    for source in answer.sources:
        fields = asdict(source) | {"document_id": Path(source.document_id).name}
        yield ["source", json.dumps(fields, ensure_ascii=False)]
    yield ["confidence", str(answer.confidence)]
    yield ["judge_scores", json.dumps(asdict(answer.judge_scores), ensure_ascii=False) if answer.judge_scores else ""]
    yield ["retrieval_method", answer.retrieval_method]
    yield ["web_search_triggered", str(answer.web_search_triggered).lower()]
    yield ["timestamp", answer.timestamp]


def _cut(line: str) -> str:
    return line if len(line) <= SHOWN else f"{line[:SHOWN].rstrip()} …"


if __name__ == "__main__":
    main({"news": measure}, "news")
