"""What the rules for each language are worth: analysis, detection, typing errors and missing diacritics.

Keyword search is measured alone, so nothing is embedded. Diacritics are measured on documents that the weights were not
trained on.
"""

from __future__ import annotations

import json
import random
import zlib
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np

from benchmarks.bases import WITHOUT_MODEL, opened, understood
from benchmarks.common import Options, Result, Table, interval, main, progress, skipped
from benchmarks.retrieval import SETS
from ragstone.acquire.metadata.language import detect
from ragstone.core.access import OWNER
from ragstone.engine.experiments import add_corpus
from ragstone.index.keyword.profiles import Learning, Profiles
from ragstone.query.diacritics import bare, restore, shipped
from ragstone.review.dataset import Dataset, Query, load
from ragstone.review.evaluate import EvalReport, evaluate
from ragstone.review.significance import Difference, paired_difference

QUICK_SETS, QUICK_LIMIT = SETS[:3], 100
LANGUAGES = {"xquad/dev/en": "en", "xquad/dev/de": "de"}
TREEBANK = "ud_lithuanian/dev/sentences.jsonl"
PARTS, CHOSEN = 5, 2
LETTERS = "abcdefghijklmnopqrstuvwxyz"
SHORTEST = 5


def document_of(sentence: str) -> str:
    """Return the document of a treebank sentence from the sentence's id; some ids name none."""
    return sentence.rpartition("-s")[0] or sentence


def is_held_out(sentence: str) -> bool:
    """Return whether a sentence, with its whole document, is held out from training: about one in five."""
    return zlib.crc32(document_of(sentence).encode()) % PARTS == CHOSEN


async def measure(options: Options) -> Result:
    names = [name for name in (QUICK_SETS if options.quick else SETS) if options.folder(name)]
    if options.data is None or not names:
        return skipped("language needs data sets in several languages")
    limit = QUICK_LIMIT if options.quick else None
    searched: list[list[str]] = []
    typed: list[list[str]] = []
    detected: list[list[str]] = []
    figures: dict[str, dict[str, float]] = {}
    for name in names:
        dataset = load(options.data / name)
        place = options.keep / "language" / dataset.name.replace("/", "-")
        plain = await _report(dataset, place / "plain", ["index.analyzer=plain", "query.spelling=false"], limit)
        by_language = await _report(dataset, place / "language", ["query.spelling=false"], limit)
        corrected = await _report(dataset, place / "language", [], limit)
        gain = _difference(by_language, plain, "ndcg@10")
        searched.append([dataset.name, _mean(plain), _mean(by_language), interval(gain), _mean(corrected)])
        figures[dataset.name] = {"plain": _value(plain), "language": _value(by_language), "gain": gain.mean}
        typed += await _typing(dataset, place / "language", limit)
        detected += _detection(dataset, LANGUAGES.get(name, ""))
        progress(f"language: {dataset.name} done")
    tables = [
        Table(
            title="Keyword search alone: nDCG@10",
            columns=["set", "words only", "by language", "gain (95% interval)", "with spelling correction"],
            rows=searched,
        ),
        Table(
            title="Questions with errors, keyword search alone: MRR@10",
            columns=["set", "error", "without it", "with it", "corrected", "words corrected", "harm without errors"],
            rows=typed,
        ),
        Table(
            title="Language detected correctly",
            columns=["set", "texts", "count", "alone", "with the documents'"],
            rows=detected,
        ),
    ]
    if treebank := options.folder(TREEBANK):
        figures["diacritics"], table = _diacritics(treebank)
        tables.append(table)
    return Result(figures=figures, tables=tables)


async def _report(dataset: Dataset, kb: Path, settings: Sequence[str], limit: int | None) -> EvalReport:
    with opened(kb, [*WITHOUT_MODEL, "query.method=bm25", *settings]) as engine:
        await add_corpus(engine, dataset)
        return await evaluate(dataset, partial(engine.search, reader=OWNER), limit=limit)


async def _typing(dataset: Dataset, kb: Path, limit: int | None) -> list[list[str]]:
    """Return rows for questions with an error in one word and, where the set has them, without diacritics."""
    kinds = {"one typing error": [replace(query, text=mistyped(query.text, query.id)) for query in dataset.queries]}
    if all("text_ascii" in query.extras for query in dataset.queries):
        kinds["no diacritics"] = [replace(query, text=str(query.extras["text_ascii"])) for query in dataset.queries]
    rows: list[list[str]] = []
    well = await _report(dataset, kb, ["query.spelling=false"], limit)
    harm = await _report(dataset, kb, [], limit)
    for kind, queries in kinds.items():
        badly = replace(dataset, queries=tuple(queries))
        off = await _report(badly, kb, ["query.spelling=false"], limit)
        on = await _report(badly, kb, [], limit)
        share = f"{_share_corrected(dataset.queries, queries, kb):.0%}" if kind == "one typing error" else "-"
        values = [_mean(one, "mrr@10") for one in (well, off, on)]
        rows.append([dataset.name, kind, *values, share, interval(_difference(harm, well, "mrr@10"))])
    return rows


def _share_corrected(queries: Sequence[Query], badly: Sequence[Query], kb: Path) -> float:
    """Return the share of questions with an error that are understood as without it, but for diacritics and case."""
    both = [(one, other) for one, other in zip(queries, badly, strict=True) if one.text != other.text]
    with opened(kb, ["query.method=bm25"]) as engine:
        texts = [understood(engine, other.text) for _, other in both]
    same = [bare(one.text).lower() == bare(text).lower() for (one, _), text in zip(both, texts, strict=True)]
    return sum(same) / len(same)


def mistyped(text: str, seed: str) -> str:
    """Return the text with one error in a longer word: a letter dropped, inserted, replaced, or swapped."""
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
    """Return rows for documents and questions, if the set has their languages."""
    documents = [(doc.text, language or str(doc.metadata.get("lang", ""))) for doc in dataset.documents()]
    questions = [(query.text, language or query.lang) for query in dataset.queries]
    known = [code for _, code in documents if code]
    prior = {code: known.count(code) / len(known) for code in set(known)}
    learning = Learning(Profiles.nothing())
    for text, _ in documents:
        learning.take(text, detect(text))
    profiles = learning.learned()
    rows: list[list[str]] = []
    for what, all_texts in (("documents", documents), ("questions", questions)):
        texts = [(text, code) for text, code in all_texts if code]
        if texts:
            alone = np.mean([detect(text) == code for text, code in texts])
            right = [(profiles.language(text, prior) or detect(text, prior)) == code for text, code in texts]
            given = f"{np.mean(right):.1%}" if prior else "-"
            rows.append([dataset.name, what, str(len(texts)), f"{alone:.1%}", given])
    return rows


def _diacritics(path: Path) -> tuple[dict[str, float], Table]:
    """Count the words restored correctly, and the correct words made wrong, on documents held out from training."""
    known = shipped("lt")
    assert known is not None
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    texts = [one["text"] for one in lines if is_held_out(one["id"])]
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
    columns = ["words", "right as typed", "right when restored", "right and made wrong"]
    return figures, Table(title="Lithuanian without diacritics, held-out sentences", columns=columns, rows=[row])


def _value(report: EvalReport, measure: str = "ndcg@10") -> float:
    return report.measures[measure].mean


def _mean(report: EvalReport, measure: str = "ndcg@10") -> str:
    return f"{_value(report, measure):.3f}"


def _difference(one: EvalReport, other: EvalReport, measure: str) -> Difference:
    ours, theirs = ([q.measures[measure] for q in report.per_query if q.measures] for report in (one, other))
    return paired_difference(ours, theirs)


if __name__ == "__main__":
    main({"language": measure}, "language")
