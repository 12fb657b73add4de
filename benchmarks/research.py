"""Research: are the passages that a question needs among those read, and are lists and counts complete?

Questions of several steps: HotpotQA and MuSiQue, 50 each, asked of all passages of their set; nothing was fitted to
them. "Read" are the passages of all searches. "Complete" is an answer that quotes every supporting passage, or words
that contain the right answer.

The scripted planner stands for a language model: it searches for the title of a supporting passage only if a passage
that it is shown, or the question, mentions that title. Every third of its replies is broken.

Lists: the questions of ``lists.yaml``. Rules were made while the seen collections were measured.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass
from statistics import mean

from benchmarks.bases import NO_CACHE, filled, with_settings
from benchmarks.common import Options, Result, Table, main
from benchmarks.erring_planner import ErringPlanner, plain
from benchmarks.list_sets import Collection, collections
from ragstone.core.access import OWNER
from ragstone.core.answers import Answer, Answered
from ragstone.core.research import Forecast, Notebook, Researched
from ragstone.engine.knowledge_base import KnowledgeBase
from ragstone.review.dataset import Dataset, load

SETS = {"hotpot": "hotpotqa_sample", "musique": "musique_sample"}
MADE_HERE = ("supplier contracts", "council minutes")
QUICK = 5
COLUMNS = (
    "who plans",
    "supporting passages read",
    "passages read",
    "complete",
    "model calls",
    "tokens",
    "tokens told before",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """What research did for one question."""

    notebook: Notebook
    answer: Answer
    told: Forecast

    @property
    def documents(self) -> set[str]:
        """The ids of the documents that were read."""
        return {hit.chunk.document_id for hit in self.notebook.hits}

    @property
    def tokens(self) -> int:
        """Tokens of language models."""
        return self.answer.usage.prompt_tokens + self.answer.usage.completion_tokens

    @property
    def is_as_told(self) -> bool:
        """Whether the tokens were told within a fifth."""
        return abs(self.told.tokens - self.tokens) <= 0.2 * self.tokens


async def researched(kb: KnowledgeBase, question: str) -> Run:
    """Return what research does for a question."""
    notebook: Notebook | None = None
    told: Forecast | None = None
    async for event in kb.research(question, reader=OWNER, keep=False):
        match event:
            case Forecast():
                told = event
            case Researched(notebooks=notebooks):
                notebook = notebooks[0]
            case Answered(answer=answer) if notebook and told:
                return Run(notebook=notebook, answer=answer, told=told)
            case _:
                pass
    raise ValueError(f"there was no research for: {question}")


async def measure(options: Options) -> Result:
    """Measure questions of several steps where their sets are, and lists."""
    figures, tables = dict[str, float](), list[Table]()
    for name, folder in SETS.items():
        if options.folder(folder):
            assert options.data is not None
            figures |= await _several_steps(options, name, load(options.data / folder), tables)
    figures |= await _lists(options, tables)
    return Result(figures=figures, tables=tables)


# ---------------------------------------------------------------- several steps


async def _several_steps(options: Options, name: str, dataset: Dataset, tables: list[Table]) -> dict[str, float]:
    queries = dataset.queries[:QUICK] if options.quick else dataset.queries
    titles = {one.id: one.title for one in dataset.documents()}
    own = [*NO_CACHE, f"index.embedder={options.embedders[0]}"]
    figures, rows = dict[str, float](), list[list[str]]()
    async with filled(options, dataset, own) as kb:
        planned = [*own, "query.planned_steps=0", "respond.model.name=benchmarks.erring_planner:ErringPlanner"]
        for way, settings in (("rules", own), ("planner", planned)):
            asked = with_settings(kb, settings)
            runs = list[Run]()
            found, complete = list[float](), list[bool]()
            for query in queries:
                gold = {id for id, grade in dataset.qrels[query.id].items() if grade > 0}
                ErringPlanner.titles = [titles[id] for id in sorted(gold)]
                run = await researched(asked, query.text)
                runs.append(run)
                found.append(len(gold & run.documents) / len(gold))
                cited = {one.document_id for one in run.answer.citations}
                quoted = plain(" ".join(one.quote for one in run.answer.citations))
                complete.append(gold <= cited or any(plain(one) in quoted for one in query.answers))
            figures[f"{name}_{way}_read"] = round(mean(found), 4)
            read = mean(len(run.documents) for run in runs)
            told, used = sum(run.told.tokens for run in runs), sum(run.tokens for run in runs)
            calls = mean(run.answer.usage.model_calls for run in runs)
            if way == "rules":
                figures[f"{name}_complete"] = round(mean(complete), 4)
            else:
                figures[f"{name}_tokens_told"] = round(told / used, 3)
                figures[f"{name}_told_within_20"] = round(mean(run.is_as_told for run in runs), 3)
            rows.append(
                [
                    way,
                    f"{mean(found):.3f}",
                    f"{read:.0f}",
                    f"{mean(complete):.2f}" if way == "rules" else "",
                    f"{calls:.1f}",
                    f"{used / len(runs):,.0f}",
                    f"{told / len(runs):,.0f}",
                ]
            )
    tables.append(Table(title=name, columns=COLUMNS, rows=rows))
    return figures


# ---------------------------------------------------------------- lists


async def _lists(options: Options, tables: list[Table]) -> dict[str, float]:
    """Measure lists: documents that fit and are found, wrong ones among those listed, and counts that are right."""
    rows, by_seen = list[list[str]](), dict[bool, list[_Score]]()
    for collection in collections(options.data):
        if options.quick and collection.name not in MADE_HERE:
            continue
        scores = [one async for one in _scores(options, collection)]
        by_seen.setdefault(collection.seen, []).extend(scores)
        rows.append(
            [collection.name, "seen" if collection.seen else "unseen", str(len(scores)), *_summary(scores).values()]
        )
    figures = dict[str, float]()
    for seen, scores in by_seen.items():
        name = "seen" if seen else "unseen"
        rows.append([f"all {name}", name, str(len(scores)), *_summary(scores).values()])
        figures |= {f"lists_{name}_{key}": float(value) for key, value in _summary(scores).items() if value}
    every = _summary([score for scores in by_seen.values() for score in scores])
    figures |= {f"lists_{key}": float(value) for key, value in every.items() if value}
    columns = ["collection", "", "questions", "found", "found (mean of questions)", "wrong", "counts right"]
    tables.append(Table(title="Lists and counts", columns=columns, rows=rows))
    return figures


@dataclass(frozen=True, slots=True, kw_only=True)
class _Score:
    """Documents of the gold, those found, and wrong ones; whether a count is right, None if none was asked."""

    gold: int
    found: int
    wrong: int
    count: bool | None


async def _scores(options: Options, collection: Collection) -> AsyncGenerator[_Score]:
    own = [*NO_CACHE, f"index.embedder={options.embedders[0]}"]
    async with filled(options, collection.dataset, own) as kb:
        for question in collection.questions:
            items = (await researched(kb, question.text)).notebook.items
            listed = {one.document_id for one in items.items} if items else set[str]()
            right = items is not None and len(listed) == len(question.gold)
            yield _Score(
                gold=len(question.gold),
                found=len(listed & question.gold),
                wrong=len(listed - question.gold),
                count=right if question.counts else None,
            )


def _summary(scores: Sequence[_Score]) -> dict[str, str]:
    found, wrong = sum(one.found for one in scores), sum(one.wrong for one in scores)
    each = [one.found / one.gold for one in scores if one.gold]
    counts = [one.count for one in scores if one.count is not None]
    return {
        "found": f"{found / max(1, sum(one.gold for one in scores)):.3f}",
        "found_mean": f"{mean(each):.3f}" if each else "",
        "wrong": f"{wrong / max(1, found + wrong):.3f}",
        "counts": f"{mean(counts):.2f}" if counts else "",
    }


if __name__ == "__main__":
    main({"research": measure}, "research")
