"""What a question fixes: how often a right passage is said to lack it, and how often a wrong passage is."""

from __future__ import annotations

import gzip
import json
import random
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import log
from pathlib import Path

from benchmarks.common import Options, Result, Table, main, progress
from ragstone.core.records import Chunk, Metadata
from ragstone.core.request import Request
from ragstone.question import Context, read
from ragstone.respond.requirements.unmet import Lack, lacking
from ragstone.review.dataset import load

READER = (
    "squad2_dev_half", "hardneg_en", "tatqa_text", "hotpotqa", "squadshifts_wiki", "tydiqa_en", "malay_squad_part",
    "idk_mrc", "law_weak_de_lt",
)  # fmt: skip
"""Sets of questions with one passage each."""
SETS = (
    "clapnq", "qed_nq", "covidqa", "mtrag_un", "xquad/dev/en", "xquad/dev/de", "covid_faq_kb", "lt_faq", "cudaq_docs",
    "telekom_press",
)  # fmt: skip
"""Sets whose questions name the documents that answer them."""
LIMIT = 1500
CUT = 1500
"""Characters of a passage; of a longer document it is the part around the answer."""
KINDS = ("year", "number", "version", "name")
_YEAR = re.compile(r"(?<![\w.,$€£-])(?:1[5-9]\d\d|20[0-3]\d)(?![\w.,%-]|s\b)")
_VERSION = re.compile(r"(?<=[A-Za-zÄÖÜäöü])[ -]?\d+(?:\.\d+)*(?![\w%,.])")
_NUMBER = re.compile(r"(?<![\w.,$€£-])\d+(?:[.,]\d+)*(?![\w,.-])")
_NAME = re.compile(r"(?<=[a-zß-ÿ,'’“] )[A-ZÄÖÜŠŽČ][\w’-]+(?: [A-ZÄÖÜŠŽČ][\w’-]+)*")
_CYRILLIC = re.compile("[\u0400-\u04ff]")
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A question, the passage it is asked of, and whether that answers it."""

    name: str
    language: str
    question: str
    chunk: Chunk
    answerable: bool


class Corpus:
    """The words of all passages of a set, in place of an index."""

    def __init__(self, passages: Iterable[str]) -> None:
        self._texts = [{word[:6] for word in _WORD.findall(text.lower())} for text in passages]

    @cached_property
    def _counts(self) -> dict[str, int]:
        counts: dict[str, int] = {}
        for some in self._texts:
            for word in some:
                counts[word] = counts.get(word, 0) + 1
        return counts

    def known(self, words: Sequence[str], request: Request) -> list[bool]:
        del request
        return [all(part[:6] in self._counts for part in _WORD.findall(word.lower())) for word in words]

    def weigh(self, words: Sequence[str], request: Request) -> list[float]:
        del request
        return [max((self._rarity(part[:6]) for part in _WORD.findall(word.lower())), default=0.0) for word in words]

    def _rarity(self, begin: str) -> float:
        count = self._counts.get(begin, 0)
        return log(1 + (len(self._texts) - count + 0.5) / (count + 0.5))


def asked(data: Path, name: str) -> list[Asked]:
    """Return the questions of a set with their passages; at most `LIMIT`."""
    rows = list(_reader(data, name) if name in READER else _judged(data, name))
    return random.Random(1).sample(rows, LIMIT) if len(rows) > LIMIT else rows


def _reader(data: Path, name: str) -> Iterator[Asked]:
    with gzip.open(data / "reader" / f"{name}.jsonl.gz", "rt", encoding="utf-8") as lines:
        for line in lines:
            row = json.loads(line)
            chunk = _chunk(row["id"], row["passage"], row["title"])
            yield Asked(
                name=name, language=row["lang"], question=row["question"], chunk=chunk, answerable=row["answerable"]
            )


def _judged(data: Path, name: str) -> Iterator[Asked]:
    dataset = load(data / name)
    documents = {document.id: document for document in dataset.documents()}
    for query in dataset.queries:
        right = [one for one, degree in dataset.qrels.get(query.id, {}).items() if degree > 0 and one in documents]
        if not right or not query.answerable or _CYRILLIC.search(query.text):
            continue  # part of the Lithuanian questions are Ukrainian
        document = documents[right[0]]
        clues = [*query.evidence_sentences, *query.answers]
        at = max(0, next((place for one in clues if (place := document.text.find(one)) >= 0), 0) - CUT // 2)
        if at == 0 and not any(one in document.text[:CUT] for one in clues) and len(document.text) > 2 * CUT:
            at, size = 0, len(document.text)
        else:
            size = CUT
        chunk = _chunk(document.id, document.text[at : at + size], document.title, document.url, document.metadata)
        yield Asked(name=name, language=query.lang, question=query.text, chunk=chunk, answerable=True)


def _chunk(name: str, text: str, title: str, url: str = "", metadata: Metadata | None = None) -> Chunk:
    return Chunk(
        id=name, document_id=name, index=0, total=1, start=0, end=len(text), text=text, title=title, context=title,
        url=url, metadata=metadata or {},
    )  # fmt: skip


def changed(one: Asked, kind: str, others: Sequence[Asked], chance: random.Random) -> str:
    """Return the question with something else fixed in it that its passage does not have; empty if it fixes nothing."""
    text = f"{one.chunk.headed}\n{one.question}"
    pattern = {"year": _YEAR, "number": _NUMBER, "version": _VERSION, "name": _NAME}[kind]
    found = [match for match in pattern.finditer(one.question) if kind != "number" or not _YEAR.fullmatch(match[0])]
    if kind == "version":
        found = [match for match in found if not _YEAR.fullmatch(match[0].strip(" -"))]
        found = [match for match in found if _WORD.findall(one.question[: match.start()])[-1][:1].isupper()]
    if kind == "number":
        versions = {match.end() for match in _VERSION.finditer(one.question)}
        found = [match for match in found if match.end() not in versions]
    if kind == "name" and one.language == "de":
        found = [match for match in found if " " in match[0] and match[0] in one.chunk.text]
    if not found:
        return ""
    match = chance.choice(found)
    for _ in range(20):
        new = _other(match[0], kind, others, chance)
        if new and not any(_is_in(word, text) for word in _WORD.findall(new)):
            return one.question[: match.start()] + new + one.question[match.end() :]
    return ""


def _is_in(word: str, text: str) -> bool:
    return re.search(rf"\b{re.escape(word[:5])}", text, re.IGNORECASE) is not None


def _other(old: str, kind: str, others: Sequence[Asked], chance: random.Random) -> str:
    if kind == "year":
        return str(int(old) + chance.choice([-60, -37, -12, -7, 9, 14, 33]))
    if kind == "name":
        found = _NAME.findall(chance.choice(others).question)
        return chance.choice(found) if found else ""
    place = chance.choice([i for i, letter in enumerate(old) if letter.isdigit()])
    return old[:place] + chance.choice([d for d in "123456789" if d != old[place]]) + old[place + 1 :]


def lacks(one: Asked, question: str, corpus: Corpus) -> list[Lack]:
    asked, request = read(question, Context(language=one.language)), Request.by_owner()
    return lacking(asked, [one.chunk], [one.chunk], occurs=corpus.known, weigh=corpus.weigh, request=request)


async def measure(options: Options) -> Result:
    """Return the shares of questions, by set, whose passage is said to lack something."""
    assert options.data is not None
    rows: list[list[str]] = []
    figures: dict[str, dict[str, float]] = {}
    for name in (*SETS, *READER):
        some = asked(options.data, name)[:: 8 if options.quick else 1]
        corpus = Corpus(one.chunk.headed for one in some)
        chance = random.Random(1)
        fired = {
            flag: [bool(lacks(one, one.question, corpus)) for one in some if one.answerable == flag]
            for flag in (True, False)
        }
        row = [name, *(_share(fired[flag]) for flag in (True, False))]
        figures[name] = {"answerable": _mean(fired[True])}
        for kind in KINDS:
            new = [(one, text) for one in some if one.answerable and (text := changed(one, kind, some, chance))]
            hit = [bool(lacks(one, text, corpus)) for one, text in new]
            row.append(_share(hit))
            figures[name][kind] = _mean(hit)
        rows.append(row)
        progress(f"required: {name}")
    table = Table(
        title="passages said to lack something that the question fixes",
        columns=["set", "right passage", "unanswerable", *(f"{kind} changed" for kind in KINDS)],
        rows=rows,
    )
    return Result(tables=[table], figures=figures)


def _mean(some: Sequence[bool]) -> float:
    return round(sum(some) / max(len(some), 1), 4)


def _share(some: Sequence[bool]) -> str:
    return f"{_mean(some):.3f} of {len(some)}" if some else "-"


if __name__ == "__main__":
    main({"required": measure}, "required")
