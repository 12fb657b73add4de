"""Questions whose evidence answers them or does not, for fitting and testing the probability of an answer.

CLAP NQ has questions that its documents do not answer, as people judged. Each question of the other sets is asked
twice, with the evidence that was found and without the documents that answer it.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from benchmarks.bases import Parts, filled
from benchmarks.common import Options, progress
from ragstone.core.access import OWNER
from ragstone.core.answers import Citation
from ragstone.core.records import Document, Evidence
from ragstone.core.request import Request
from ragstone.respond import drafted
from ragstone.respond.answerability import FITTED, Features
from ragstone.review.citations import locate, touches
from ragstone.review.dataset import Dataset, Query, load

PASSAGES = 8
LAW, OTHER_LAWS = "pairs/lt_law_headings.jsonl.gz", 300
"""Headings of Lithuanian laws with their articles, and articles more that are searched."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """Questions of one set asked of the documents of another.

    ``fitted`` names the embedders whose coefficients are fitted to half of the questions. In ``judged`` sets the words
    that answer are marked, so that an answer can be called wrong. ``language`` is the one of all questions, if it is
    one; questions of ``law`` are headings.
    """

    questions: str
    documents: str
    fitted: tuple[str, ...] = tuple(FITTED)
    judged: bool = False
    language: str = ""


# An English model finds little across languages and should refuse; fitting must not remove that.
SOURCES: Mapping[str, Source] = {
    "clapnq": Source(questions="clapnq", documents="clapnq", judged=True),
    "xquad en": Source(questions="xquad/dev/en", documents="xquad/dev/en", judged=True),
    "xquad de": Source(questions="xquad/dev/de", documents="xquad/dev/de", judged=True),
    "xquad de-en": Source(questions="xquad/dev/de", documents="xquad/dev/en", fitted=("e5-small",)),
    "lt_faq": Source(questions="lt_faq", documents="lt_faq", language="lt"),
    "covid_faq_kb": Source(questions="covid_faq_kb", documents="covid_faq_kb"),
}
POOLED = tuple(name for name in SOURCES if name != "xquad de-en")
LITHUANIAN: Mapping[str, Source] = {
    "covid_faq_kb": SOURCES["covid_faq_kb"],
    LAW: Source(questions=LAW, documents=LAW, language="lt"),
}
"""What the coefficients for Lithuanian are fitted to, all of it; ``lt_faq`` is left out whole to measure them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A question, and whether its evidence answers it.

    ``wrong`` means that an answer would quote nothing that answers the question. ``number`` counts the questions of
    the set.
    """

    source: str
    number: int
    features: Features
    answerable: bool
    wrong: bool

    @property
    def part(self) -> str:
        """Return ``fit`` (coefficients), ``risk`` (thresholds) or ``test`` (neither)."""
        return ("fit", "risk", "fit", "test")[self.number % 4]


async def cases(data: Path, keep: Path, name: str, embedder: str, *, every: int = 1) -> list[Case]:
    """Return the cases of every nth question of a source, in the order of its questions."""
    source = {**SOURCES, **LITHUANIAN}[name]
    dataset = _law(data / LAW) if name == LAW else _dataset(data, source)
    chosen = (
        f"index.embedder={embedder}",
        f"rank.top_k={PASSAGES}",
        "respond.abstain_below=0",
        "cache.megabytes=2400",  # passages are compared again and again
    )
    texts = {document.id: document.text for document in dataset.documents()}
    out: list[Case] = []
    async with filled(Options(keep=keep, data=data), dataset, chosen) as engine:
        answerer = Parts(engine).answerer
        for number, query in list(enumerate(dataset.queries))[::every]:
            hits = tuple(await engine.search(query.text, reader=OWNER))
            found = Evidence(question=query.text, hits=hits, method="measured", language=query.lang)
            for evidence, answerable in _asked(found, query, dataset, source):
                features = await answerer.features(evidence, Request.by_owner())
                if features is not None:
                    draft = await drafted(answerer, evidence, Request.by_owner())
                    wrong = not answerable or not _is_right(query, dataset, draft.citations, texts)
                    case = Case(source=name, number=number, features=features, answerable=answerable, wrong=wrong)
                    out.append(case)
    progress(f"answerability: {len(out)} cases of {name} with {embedder}")
    return out


def _dataset(data: Path, source: Source) -> Dataset:
    return replace(load(data / source.documents), queries=load(data / source.questions).queries)


def _law(path: Path) -> Dataset:
    """Return the validation pairs as questions, and the articles of these and of some others as documents."""
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    asked = [row for row in rows if row["split"] == "valid"]
    others = [row for row in rows if row["split"] != "valid"][:OTHER_LAWS]

    def documents() -> Iterator[Document]:
        for row in (*asked, *others):
            yield Document(id=row["id"], title=row["title"], text=row["positive"], source=row["id"])

    return Dataset(
        name="lt_law",
        queries=tuple(Query(id=f"q {row['id']}", text=row["question"], lang="lt") for row in asked),
        qrels={f"q {row['id']}": {row["id"]: 1} for row in asked},
        documents=documents,
    )


def _asked(found: Evidence, query: Query, dataset: Dataset, source: Source) -> Iterator[tuple[Evidence, bool]]:
    """Yield evidence, and whether it answers."""
    if source.documents == "clapnq":
        yield found, query.answerable
        return
    right = set(dataset.qrels.get(query.id, {}))
    without = replace(found, hits=tuple(hit for hit in found.hits if hit.chunk.document_id not in right))
    if len(without.hits) < len(found.hits):
        yield found, True
    yield without, False


def _is_right(query: Query, dataset: Dataset, citations: tuple[Citation, ...], texts: Mapping[str, str]) -> bool:
    """Return whether a quote touches a marked sentence, has the answer, or at least is from the right document."""
    right = set(dataset.qrels.get(query.id, {}))
    if query.evidence_sentences:
        places = [place for one in query.evidence_sentences for place in locate(one, right, texts)]
        return any(touches(citation, places) for citation in citations)
    own = [citation for citation in citations if citation.document_id in right]
    if dataset.name.startswith("xquad"):
        return any(answer in citation.quote for citation in own for answer in query.answers)
    return bool(own)
