"""What each language's rules are worth: analysis, detection, diacritics and typing errors.

Keyword search is measured alone, without vectors, so that nothing is embedded. Diacritics are measured on the
documents that `kept_apart` kept from what the weights were learnt from.
"""

from __future__ import annotations

import json
import random
import zlib
from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.common import Options, Result, Table, main, skipped, told
from benchmarks.retrieval import SETS
from ragstone.acquire.facts.language import detect
from ragstone.contracts import Span
from ragstone.engine import Engine
from ragstone.experiment import add_corpus
from ragstone.index.terms.profiles import Learning, Profiles
from ragstone.protocols import Role
from ragstone.query.diacritics import bare, restore, shipped
from ragstone.review.dataset import Dataset, Query, load
from ragstone.review.evaluate import EvalReport, evaluate
from ragstone.review.significance import Difference, paired_difference

if TYPE_CHECKING:
    from ragstone.contracts import Vector

QUICK_SETS, QUICK_LIMIT = SETS[:3], 100
LANGUAGES = {"xquad/dev/en": "en", "xquad/dev/de": "de"}
TREEBANK = "ud_lithuanian/dev/sentences.jsonl"
PARTS, CHOSEN = 5, 2
LETTERS = "abcdefghijklmnopqrstuvwxyz"
SHORTEST = 5


class Blank:
    """An embedder for those who search by keywords only."""

    fingerprint, dimensions = "blank", 1

    def familiarity(self, text: str) -> float:  # noqa: ARG002
        return 1.0

    def tokens(self, text: str) -> list[Span]:
        return [Span(start=0, end=len(text))]

    async def embed(self, texts: Sequence[str], *, role: Role) -> Vector:  # noqa: ARG002
        return np.ones((len(texts), 1), dtype=np.float32)


def document_of(sentence: str) -> str:
    """The document of a sentence of the treebank, by the sentence's id; some ids name none."""
    return sentence.rpartition("-s")[0] or sentence


def kept_apart(sentence: str) -> bool:
    """Whether a sentence is for measuring, not for learning, with its whole document: about one in five."""
    return zlib.crc32(document_of(sentence).encode()) % PARTS == CHOSEN


async def measure(options: Options) -> Result:
    if options.data is None:
        return skipped("language needs data sets in several languages")
    names = [name for name in (QUICK_SETS if options.quick else SETS) if (options.data / name).is_dir()]
    limit = QUICK_LIMIT if options.quick else None
    searched, typed, told_rows, figures = [], [], [], {}
    for name in names:
        dataset = load(options.data / name)
        place = options.keep / "language" / dataset.name.replace("/", "-")
        plain = await _report(dataset, place / "plain", ["index.analyzer=plain", "query.spelling=false"], limit)
        by_language = await _report(dataset, place / "language", ["query.spelling=false"], limit)
        corrected = await _report(dataset, place / "language", [], limit)
        gain = _difference(by_language, plain)
        searched.append([dataset.name, _mean(plain), _mean(by_language), _interval(gain), _mean(corrected)])
        figures[dataset.name] = {"plain": _value(plain), "language": _value(by_language), "gain": gain.mean}
        typed += await _typing(dataset, place / "language", limit, figures[dataset.name])
        told_rows += _detection(dataset, LANGUAGES.get(name, ""))
        told(f"{dataset.name}: done")
    tables = [
        Table(
            title="Keyword search alone: nDCG@10",
            columns=["set", "words only", "by language", "gain (95% interval)", "and spelling put right"],
            rows=searched,
        ),
        Table(
            title="Questions typed badly, keyword search alone: MRR@10",
            columns=["set", "what is wrong", "well typed", "badly typed", "put right", "words put right", "harm"],
            rows=typed,
        ),
        Table(
            title="Language told rightly",
            columns=["set", "texts", "count", "alone", "with the documents'"],
            rows=told_rows,
        ),
    ]
    if (options.data / TREEBANK).is_file():
        restored, table = _diacritics(options.data / TREEBANK)
        tables.append(table)
        figures["diacritics"] = restored
    return Result(figures=figures, tables=tables)


async def _report(dataset: Dataset, kb: Path, settings: list[str], limit: int | None) -> EvalReport:
    fixed = ["index.embedder=benchmarks.language:Blank", "query.method=bm25"]
    with closing(Engine.open(kb, [*fixed, *settings], create=True)) as engine:
        await add_corpus(engine, dataset)
        return await evaluate(dataset, engine.search, limit=limit)


async def _typing(dataset: Dataset, kb: Path, limit: int | None, figures: dict) -> list[list[str]]:
    """Rows for questions without diacritics, where the set has them, and with an error in one word."""
    ways = {"one typing error": [replace(query, text=mistyped(query.text, query.id)) for query in dataset.queries]}
    if all("text_ascii" in query.extras for query in dataset.queries):
        ways["no diacritics"] = [replace(query, text=str(query.extras["text_ascii"])) for query in dataset.queries]
    rows = []
    well = await _report(dataset, kb, ["query.spelling=false"], limit)
    harm = await _report(dataset, kb, [], limit)
    for what, queries in ways.items():
        badly = replace(dataset, queries=tuple(queries))
        off = await _report(badly, kb, ["query.spelling=false"], limit)
        on = await _report(badly, kb, [], limit)
        right = await _share_right(dataset.queries, queries, kb) if what == "one typing error" else None
        rows.append([dataset.name, what, *(_mean(one, "mrr@10") for one in (well, off, on))])
        rows[-1] += ["-" if right is None else f"{right:.0%}", _interval(_difference(harm, well, "mrr@10"))]
        figures[what] = {"off": _value(off, "mrr@10"), "on": _value(on, "mrr@10"), "right": right}
        figures["well typed"] = {"off": _value(well, "mrr@10"), "on": _value(harm, "mrr@10")}
    return rows


async def _share_right(queries: Sequence[Query], badly: Sequence[Query], kb: Path) -> float:
    """Of the questions that got an error, those that were understood as they were before, but for marks and case."""
    both = [(one, other) for one, other in zip(queries, badly, strict=True) if one.text != other.text]
    with closing(Engine.open(kb, ["query.method=bm25"])) as engine:
        understood = [engine.understand(other.text).text for _, other in both]
    same = [bare(one.text).lower() == bare(text).lower() for (one, _), text in zip(both, understood, strict=True)]
    return sum(same) / len(same)


def mistyped(text: str, seed: str) -> str:
    """The text with one error in one of its longer words: a letter left out, put in, mistaken, or exchanged."""
    rng = random.Random(seed)
    words = text.split(" ")
    long = [at for at, word in enumerate(words) if word.isalpha() and len(word) >= SHORTEST and not word.isupper()]
    if not long:
        return text
    at = rng.choice(long)
    word = words[at]
    place = rng.randrange(1, len(word) - 1)
    words[at] = rng.choice(
        [
            word[:place] + word[place + 1 :],
            word[:place] + rng.choice(LETTERS) + word[place:],
            word[:place] + rng.choice(LETTERS) + word[place + 1 :],
            word[:place] + word[place + 1] + word[place] + word[place + 2 :],
        ]
    )
    return " ".join(words)


def _detection(dataset: Dataset, language: str) -> list[list[str]]:
    """Rows for documents and questions, where the set says what they are in."""
    documents = [(doc.text, language or str(doc.metadata.get("lang", ""))) for doc in dataset.documents()]
    questions = [(query.text, language or query.lang) for query in dataset.queries]
    known = [code for _, code in documents if code]
    prior = {code: known.count(code) / len(known) for code in set(known)}
    learning = Learning(Profiles.nothing())
    for text, _ in documents:
        learning.take(text, detect(text))
    profiles = learning.learned()
    rows = []
    for what, texts in (("documents", documents), ("questions", questions)):
        texts = [(text, code) for text, code in texts if code]
        if texts:
            alone = np.mean([detect(text) == code for text, code in texts])
            right = [(profiles.language(text, prior) or detect(text, prior)) == code for text, code in texts]
            given = f"{np.mean(right):.1%}" if prior else "-"
            rows.append([dataset.name, what, str(len(texts)), f"{alone:.1%}", given])
    return rows


def _diacritics(path: Path) -> tuple[dict[str, float], Table]:
    """Words restored rightly, and words spoilt that were right without, on documents that were kept apart."""
    known = shipped("lt")
    assert known is not None
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    texts = [one["text"] for one in lines if kept_apart(one["id"])]
    words = right = typed_right = spoilt = 0
    for text in texts:
        typed = bare(text)
        for old, new, word in zip(typed.split(), restore(typed, known).split(), text.split(), strict=True):
            if any(char.isalpha() for char in word):
                words += 1
                right += new == word
                typed_right += old == word
                spoilt += old == word and new != word
    figures = {"words": words, "right": right / words, "spoilt": spoilt / words, "as_typed": typed_right / words}
    row = [str(words), f"{typed_right / words:.1%}", f"{right / words:.1%}", f"{spoilt / words:.2%}"]
    columns = ["words", "right as typed", "right when restored", "right and spoilt"]
    return figures, Table(title="Lithuanian without diacritics, sentences kept apart", columns=columns, rows=[row])


def _value(report: EvalReport, measure: str = "ndcg@10") -> float:
    return report.measures[measure].mean


def _mean(report: EvalReport, measure: str = "ndcg@10") -> str:
    return f"{_value(report, measure):.3f}"


def _difference(one: EvalReport, other: EvalReport, measure: str = "ndcg@10") -> Difference:
    ours, theirs = ([q.measures[measure] for q in report.per_query if q.measures] for report in (one, other))
    return paired_difference(ours, theirs)


def _interval(gain: Difference) -> str:
    return f"{gain.mean:+.3f} ({gain.low:+.3f} to {gain.high:+.3f})"


if __name__ == "__main__":
    main({"language": measure}, "language")
