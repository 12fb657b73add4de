"""Turns of conversations: are their passages found, are they understood, and is talk told from questions?

Found: the last turns of MTRAG-UN (development part), whose conversations people held. The weights of the search for a
turn with the one before it were chosen on this part, so these figures are in sight of it; the passages are those that
some turn refers to, so they are easier to find than among all. A turn is searched for alone, with its conversation, and
after a turn of another conversation, as when somebody changes the subject.

Understood: 60 follow-ups over small collections, in four languages (`benchmarks.follow_ups`).

Told apart: 400 questions. 300 are every so-many-th question of sets that people wrote, in four languages, and all of
them ask documents, headlines included. The other 100 (``kinds.jsonl``) were written by the author of the rules, after
the rules and before anything was run on them, so they are easier than those of strangers. One fault of the rules that
showed elsewhere was mended after the first run; one more of the 100 is right since. A list or a comparison counts as a
search here.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mean

from benchmarks.bases import NO_CACHE, filled
from benchmarks.common import Options, Result, Table, main, skipped
from benchmarks.follow_ups import judged, rows, share
from benchmarks.question_sets import Asked, question_set
from ragstone import index
from ragstone.core.access import OWNER
from ragstone.core.answers import Turn
from ragstone.core.protocols import Embedder
from ragstone.core.request import Request
from ragstone.core.timing import Timings
from ragstone.engine.knowledge_base import KnowledgeBase
from ragstone.engine.search import Search
from ragstone.question import Context, read
from ragstone.question.talk import talk_of
from ragstone.question.talk.classifier import is_short, talk_by_meaning
from ragstone.review.dataset import load
from ragstone.review.metrics import ndcg
from ragstone.settings.load import load as load_settings

SET, K = "mtrag_un", 10
WRITTEN = Path(__file__).with_name("kinds.jsonl")
SEARCHED = {
    "en": ("clapnq", "mtrag_un", "covidqa"),
    "de": ("covid_faq_kb",),
    "lt": ("lt_faq",),
    "ms": ("malaysian_news",),
}
"""Sets of questions that people asked documents, by language."""
EACH, QUICK_EACH = 75, 10
"""Questions of each language."""
MULTILINGUAL = "e5-small"
SUMMARY = ("document", "summary", "overview")


@dataclass(frozen=True, slots=True, kw_only=True)
class KindCase:
    """A question, its language, and whether it is talk of a kind or is searched for."""

    text: str
    language: str
    kind: str


async def measure(options: Options) -> Result:
    """Measure all three; in a quick run only a part of each."""
    if options.data is None or not options.folder(SET):
        return skipped("conversations are those of MTRAG-UN")
    found = await _found(options)
    understood = [one async for one in judged(options)]
    told = await _told(kind_cases(options.data, QUICK_EACH if options.quick else EACH))
    right = [case.kind == kind for case, kind in told]
    wrong = Counter((case.kind, kind) for case, kind in told if case.kind != kind)
    search = [kind != "search" for case, kind in told if case.kind == "search"]
    return Result(
        figures={
            "ndcg_last_turn": found["with its conversation"],
            "ndcg_alone": found["alone"],
            "ndcg_subject_changed": found["after another conversation"],
            "followups_right": share(understood, "right"),
            "followups_wrong": share(understood, "wrong"),
            "kinds_right": round(mean(right), 4),
            "searches_taken_for_talk": sum(search),
            "kinds": len(told),
        },
        tables=[
            Table(
                title=f"Last turns of {SET}, nDCG@{K}",
                columns=["searched for", f"nDCG@{K}"],
                rows=[[name, f"{value:.3f}"] for name, value in found.items()],
            ),
            Table(
                title=f"{len(understood)} follow-ups, by the rules' author",
                columns=["language", "turns", "right", "wrong", "refused"],
                rows=list(rows(understood)),
            ),
            Table(
                title=f"Kinds of {len(told)} questions: {sum(right)} right",
                columns=["is", "taken for", "questions"],
                rows=[[is_, taken, str(count)] for (is_, taken), count in wrong.most_common()],
            ),
        ],
    )


async def _found(options: Options) -> dict[str, float]:
    """Return the nDCG of last turns that have turns before them."""
    assert options.data is not None
    dataset = load(options.data / SET)
    turns = [one for one in question_set(options.data, SET).asked if one.before and dataset.qrels.get(one.id)]
    turns = turns[:: 8 if options.quick else 1]
    ways: dict[str, Sequence[Sequence[Turn]]] = {
        "alone": [() for _ in turns],
        "with its conversation": [one.before for one in turns],
        "after another conversation": [one.before for one in (*turns[1:], *turns[:1])],
    }
    chosen = [*NO_CACHE, f"index.embedder={options.embedders[0]}", f"rank.top_k={K}"]
    async with filled(options, dataset, chosen) as kb:
        return {
            name: round(
                mean(
                    [
                        ndcg(await _ranking(kb, one, before), dataset.qrels[one.id], K)
                        for one, before in zip(turns, befores, strict=True)
                    ]
                ),
                4,
            )
            for name, befores in ways.items()
        }


async def _ranking(kb: KnowledgeBase, one: Asked, before: Sequence[Turn]) -> list[str]:
    with kb.current() as version:
        evidence = await Search(version).in_conversation(
            read(one.text, Context(before=before)), before, None, version.request(OWNER), Timings()
        )
    return list(dict.fromkeys(hit.chunk.document_id for hit in evidence.hits))


def kind_cases(data: Path, each: int = EACH) -> list[KindCase]:
    """Return the questions of the sets, evenly chosen, and those written for this."""
    cases = list[KindCase]()
    for language, names in SEARCHED.items():
        texts = [
            one.text
            for name in names
            if (data / name).is_dir()
            for one in load(data / name).queries
            if one.lang in ("", language)
        ]
        step = max(1, len(texts) // each)
        cases += [KindCase(text=text, language=language, kind="search") for text in texts[::step][:each]]
    lines = WRITTEN.read_text(encoding="utf-8").splitlines()
    return [*cases, *(KindCase(**json.loads(line)) for line in lines)]


async def _told(cases: Sequence[KindCase]) -> list[tuple[KindCase, str]]:
    """Return each question with the kind of talk it is taken for, or ``search``."""
    name = MULTILINGUAL if index.has_multilingual() else "minilm"
    embedder = index.build_embedder(load_settings([f"index.embedder={name}"]).settings.index)
    return [(case, await _kind(case, embedder, name)) for case in cases]


async def _kind(case: KindCase, embedder: Embedder, name: str) -> str:
    talk = talk_of(case.text, case.language)
    if talk is None and is_short(case.text):
        (vector,) = await embedder.embed([case.text], role="query", request=Request.by_owner())
        talk = talk_by_meaning(vector, name, case.language)
    if talk is None or talk.title:  # no document has the title, so it is searched for
        return "search"
    return "document" if talk.kind in SUMMARY else talk.kind


if __name__ == "__main__":
    main({"conversation": measure}, "conversation")
