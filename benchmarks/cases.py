"""Questions with evidence that answers them, or does not: what the probability of an answer is fitted to and tested on.

CLAP NQ has questions that its documents do not answer, as people judged. Of the other sets each question is asked
twice, with the evidence found and with the documents that answer it taken out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path

from benchmarks.common import told
from ragstone.answers import Citation
from ragstone.config import load as load_settings
from ragstone.contracts import Evidence
from ragstone.engine import Engine
from ragstone.experiment import add_corpus, kept_at
from ragstone.index import build_embedder
from ragstone.respond import drafted
from ragstone.respond.answerability import FITTED, Features
from ragstone.respond.extractive import ExtractiveAnswerer
from ragstone.review.citations import locate, touches
from ragstone.review.dataset import Dataset, Query, load

PASSAGES = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """Questions of one set asked of the documents of another.

    ``fitted`` names the embedders whose coefficients half of them are used for; ``judged`` sets mark the very words
    that answer, so that an answer can be called wrong.
    """

    questions: str
    documents: str
    fitted: tuple[str, ...] = tuple(FITTED)
    judged: bool = False


# An English model finds little across languages, and had better refuse: that is not to be fitted away.
SOURCES: Mapping[str, Source] = {
    "clapnq": Source(questions="clapnq", documents="clapnq", judged=True),
    "xquad en": Source(questions="xquad/dev/en", documents="xquad/dev/en", judged=True),
    "xquad de": Source(questions="xquad/dev/de", documents="xquad/dev/de", judged=True),
    "xquad de-en": Source(questions="xquad/dev/de", documents="xquad/dev/en", fitted=("e5-small",)),
    "lt_faq": Source(questions="lt_faq", documents="lt_faq"),
    "covid_faq_kb": Source(questions="covid_faq_kb", documents="covid_faq_kb"),
}
POOLED = tuple(name for name in SOURCES if name != "xquad de-en")


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A question, and whether its evidence answers it.

    ``wrong``: if it were answered, no quote would touch what answers it. ``number`` is that of the question in its set.
    """

    source: str
    number: int
    features: Features
    answerable: bool
    wrong: bool

    @property
    def part(self) -> str:
        """``fit`` for the coefficients, ``risk`` for the thresholds, ``test`` for neither."""
        return ("fit", "risk", "fit", "test")[self.number % 4]


async def cases(data: Path, keep: Path, name: str, embedder: str, *, every: int = 1) -> list[Case]:
    """The cases of a source, in the order of its questions; of each so manieth question."""
    source = SOURCES[name]
    dataset = replace(load(data / source.documents), queries=load(data / source.questions).queries)
    settings = load_settings([f"index.embedder={embedder}"]).settings
    model = build_embedder(settings.index)
    # Passages are compared again and again: their token vectors are kept beside the knowledge base.
    chosen = (
        f"index.embedder={embedder}",
        f"rank.top_k={PASSAGES}",
        "respond.abstain_below=0",
        "cache.tokens_mb=2000",
        "cache.answers_mb=0",
    )
    texts, out = {document.id: document.text for document in dataset.documents()}, list[Case]()
    place = kept_at(keep, dataset.name, settings, model)
    with closing(Engine.open(place, chosen, create=True, build_embedder=lambda *_: model)) as engine:
        await add_corpus(engine, dataset)
        answerer = engine._answerer
        assert isinstance(answerer, ExtractiveAnswerer)
        for number, query in list(enumerate(dataset.queries))[::every]:
            hits = tuple(await engine.search(query.text))
            found = Evidence(question=query.text, hits=hits, method="measured", language=query.lang)
            for evidence, answerable in _asked(found, query, dataset, source):
                features = await answerer.features(evidence)
                if features is not None:
                    draft = await drafted(answerer, evidence)
                    wrong = not answerable or not _right(query, dataset, draft.citations, texts)
                    case = Case(source=name, number=number, features=features, answerable=answerable, wrong=wrong)
                    out.append(case)
    told(f"answerability: {len(out)} cases of {name} with {embedder}")
    return out


def _asked(found: Evidence, query: Query, dataset: Dataset, source: Source) -> Iterator[tuple[Evidence, bool]]:
    """Evidence, and whether it answers."""
    if source.documents == "clapnq":
        yield found, query.answerable
        return
    right = set(dataset.qrels.get(query.id, {}))
    without = replace(found, hits=tuple(hit for hit in found.hits if hit.chunk.document_id not in right))
    if len(without.hits) < len(found.hits):
        yield found, True
    yield without, False


def _right(query: Query, dataset: Dataset, citations: tuple[Citation, ...], texts: Mapping[str, str]) -> bool:
    """Whether a quote touches a marked sentence, or has the answer, or at least is of the right document."""
    right = set(dataset.qrels.get(query.id, {}))
    if query.evidence_sentences:
        places = [place for one in query.evidence_sentences for place in locate(one, right, texts)]
        return any(touches(citation, places) for citation in citations)
    own = [citation for citation in citations if citation.document_id in right]
    if dataset.name.startswith("xquad"):
        return any(answer in citation.quote for citation in own for answer in query.answers)
    return bool(own)
