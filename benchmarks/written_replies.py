"""How replies of language models fare: shown or refused, marked or quiet, cited rightly or wrongly, and how sure.

525 replies (`benchmarks.replies`), written by a model to questions of 13 collections from passages that a search finds,
are replayed through the answerer with default settings, as whole replies and with one sentence made false. Those of the
collections that nothing is fitted to count. Each reply is checked again by second calls (`benchmarks.second_calls`).
``--quick`` takes some of each.
"""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from functools import partial

import numpy as np
from numpy.typing import NDArray

from benchmarks.bases import NO_CACHE, opened
from benchmarks.common import Options, Result, Table, main, progress
from benchmarks.presets_with_model import Asked, measured, table
from benchmarks.replies import Replayed, Use, WrittenReply, numbers, pieces, replies
from benchmarks.reply_collections import WRITTEN, collection
from benchmarks.second_calls import JUDGES, SecondCall, SecondCounts, second_calls
from ragstone.core.answers import FLAGGED, Draft, Statement
from ragstone.core.records import Evidence, Hit
from ragstone.core.request import Request
from ragstone.core.timing import Timings
from ragstone.engine.passages import with_passages
from ragstone.engine.search import Search
from ragstone.question import read
from ragstone.respond.drafts import drafted
from ragstone.respond.markdown import bare
from ragstone.respond.writing.rightness import features, probability
from ragstone.respond.writing.written import WritingAnswerer, WrittenAnswer

QUICK_EVERY = 4
"""Each nth reply is replayed with ``--quick``."""
SAME = 0.6
"""Share of words that a statement and a sentence have in common if they are the same."""


FALSE_WEIGHT = 0.25
"""Weight of a false reply in the calibration: there is one for each right one, and of real replies most are right."""
EMPTY = (
    "The dummy says something about it [1].",
    "Hello! How can I help you today?",
    "This is a test response from the mock model [1].",
    "I am a language model and this is the answer to your question [1].",
    "The answer is in the documents [1][2].",
    "Lorem ipsum dolor sit amet, consectetur adipiscing elit.",
    "It depends on several factors [2].",
)
"""Replies of servers that only play a model, and of models that have not read."""
OTHER = 7
"""Places from a reply to the one that stands in for a reply to another question."""
BINS = 10
Floats = NDArray[np.float64]
TROUBLE = "trouble.txt"
"""File in the kept folder that gets each flagged, uncaught or wrongly cited sentence of the collections for fitting."""
CHECKS = {
    "no source mentions": "names",
    "no source says this": "the trained model",
    "no source says": "figures that stand nowhere",
    "the cited passage does not say": "figures that the cited passage lacks",
    "the passage says": "another figure or word in its place",
    "the passage": "negations",
    "the answer": "its own yes or no",
}
"""What marks a sentence, by the beginning of the reason."""
_WORD = re.compile(r"\w+")


@dataclass(slots=True)
class Counted:
    """What is counted over the replies of some collections."""

    right: int = 0
    clean: int = 0
    refused_unread: int = 0
    refusals: int = 0
    refusals_kept: int = 0
    refusals_kept_unprompted: int = 0
    answers_lost: int = 0
    answers_lost_unprompted: int = 0
    claims: int = 0
    flagged: int = 0
    supported: int = 0
    twins_supported: int = 0
    cited: int = 0
    cited_right: int = 0
    missed: int = 0
    wrongly: Counter[str] = field(default_factory=Counter[str])
    rightly: Counter[str] = field(default_factory=Counter[str])
    twins: Counter[str] = field(default_factory=Counter[str])
    caught: Counter[str] = field(default_factory=Counter[str])
    inputs: list[tuple[str, tuple[float, ...], bool]] = field(default_factory=list[tuple[str, tuple[float, ...], bool]])
    seconds: list[float] = field(default_factory=list[float])
    strays: list[tuple[str, tuple[float, ...], bool]] = field(default_factory=list[tuple[str, tuple[float, ...], bool]])
    trouble: list[str] = field(default_factory=list[str])
    again: dict[str, SecondCounts] = field(default_factory=lambda: {one.name: SecondCounts() for one in JUDGES})


async def measure(options: Options) -> Result:
    counted, left_out = await replayed(options)
    (options.keep / TROUBLE).write_text("\n".join(counted["fit"].trouble), encoding="utf-8")
    return summary(counted, left_out, await measured(options))


async def replayed(options: Options, *, strays: bool = False) -> tuple[dict[Use, Counted], list[str]]:
    """Return what is counted over the replies, and the collections that are left out for lack of their data.

    With ``strays`` also replies that have nothing to do with the question are read.
    """
    counted: dict[Use, Counted] = {"fit": Counted(), "test": Counted()}
    of_collections: dict[str, list[WrittenReply]] = {}
    for place, reply in enumerate(replies()):
        if not options.quick or place % QUICK_EVERY == 0:
            of_collections.setdefault(reply.collection, []).append(reply)
    left_out = [name for name in of_collections if name not in WRITTEN and options.data is None]
    for name, some in of_collections.items():
        if name not in left_out:
            await _replay(options, name, some, counted[some[0].use], strays=strays)
            progress(f"{name}: {len(some)} replies")
    return counted, left_out


async def _replay(options: Options, name: str, some: Sequence[WrittenReply], to: Counted, *, strays: bool) -> None:
    settings = [*NO_CACHE, "respond.model.name=benchmarks.replies:Replayed"]
    with opened(options.keep / "replies" / name.replace(" ", "-"), settings) as kb:
        await kb.documents.add(list(collection(options.data, name).documents))
        with second_calls(kb) as calls, kb.current() as version:
            search, request, answerer = Search(version), Request.by_owner(), version.models.answerer()
            assert isinstance(answerer, WritingAnswerer)
            for place, reply in enumerate(some):
                found = await search.in_conversation(read(reply.question), (), None, request, Timings())
                evidence = with_passages(version, found)
                await _one(reply, evidence, answerer, calls, to)
                if strays and (text := _stray(some, place)):
                    hits = answerer.prompt(evidence, ()).hits
                    answer = await _written(answerer, evidence, hits, text)
                    to.strays.append((name, features(answer.proofs), False))


def _stray(some: Sequence[WrittenReply], place: int) -> str:
    """Return a reply that does not answer the question: in turn an empty one and one to another question, if any."""
    if place % 2 == 0:
        return f"FOUND: yes\n{EMPTY[place // 2 % len(EMPTY)]}"
    other = some[(place + OTHER) % len(some)]
    if other.kind == "refusal" or other.question == some[place].question:
        return ""
    return other.first_line + other.text({number: number for number in range(1, len(other.passages) + 1)})


async def _written(answerer: WritingAnswerer, evidence: Evidence, hits: Sequence[Hit], text: str) -> WrittenAnswer:
    """Return a reply as it is checked."""
    request = Request.by_owner()
    async with aclosing(answerer.written(evidence.question, request, hits, pieces(text))) as parts:
        answer = [part async for part in parts][-1]
    assert isinstance(answer, WrittenAnswer)
    return answer


async def _one(
    reply: WrittenReply, evidence: Evidence, answerer: WritingAnswerer, calls: Sequence[SecondCall], to: Counted
) -> None:
    """Replay a reply and its false twins."""
    request = Request.by_owner()
    prompt = answerer.prompt(evidence, ())
    hits = prompt.hits
    known = numbers(reply, [(one.chunk.document_id, one.chunk.start, one.chunk.end) for one in hits])
    needed = {number for one in reply.sentences for number in one.says if one.role == "claim"}
    if not needed <= known.keys():
        to.missed += 1  # the prompt lacks what the reply was written from
        return

    written = partial(_written, answerer, evidence, hits)
    text, asked = reply.text(known), Replayed.asked
    Replayed.text = reply.first_line + text
    draft, plain = await drafted(answerer, evidence, request), await written(text)
    if reply.kind == "refusal":
        to.refusals += 1
        to.refusals_kept += draft.outcome == "refusal"
        to.refusals_kept_unprompted += plain.told == "nothing"
        return
    to.right += 1
    to.refused_unread += Replayed.asked == asked
    to.answers_lost += draft.outcome != "answer"
    to.answers_lost_unprompted += plain.told == "nothing"
    _claims(reply, draft, known, hits, to)
    whole = await written(Replayed.text)
    to.inputs.append((reply.collection, features(whole.proofs), True))
    for call in calls:
        counts = to.again[call.judge.rates.name]
        again = await call.check(whole, hits, counts, lambda _: False)
        counts.inputs.append((features(again.proofs), True))
        counts.flagged += sum(_is_flagged(again, one.text) for one in reply.sentences if one.role == "claim")
        counts.prompts.append(call.asked() / sum(len(one.content) for one in prompt.messages))
        counts.replies.append(len(call.judge.said) / len(Replayed.text))
    for number, falsehood in enumerate(reply.falsehoods):
        begun = time.process_time()
        false = await written(reply.first_line + reply.text(known, falsehood))
        to.seconds.append(time.process_time() - begun)
        reasons = [one.reason for text, one in _flagged(false) if _is(text, falsehood.text)]
        caught = bool(reasons)
        to.rightly.update({_check(one) for one in reasons})
        to.twins[falsehood.change] += 1
        to.caught[falsehood.change] += caught
        to.twins_supported += _is_supported(false, falsehood.text)
        if not caught:
            to.trouble.append(f"{reply.id}: not caught ({falsehood.change}): {falsehood.text}")
        if number == 0:
            to.inputs.append((reply.collection, features(false.proofs), False))
        for call in calls:
            counts = to.again[call.judge.rates.name]
            again = await call.check(false, hits, counts, partial(_is, falsehood.text))
            counts.caught += _is_flagged(again, falsehood.text)
            if number == 0:
                counts.inputs.append((features(again.proofs), False))


def _claims(reply: WrittenReply, draft: Draft, known: Mapping[int, int], hits: Sequence[Hit], to: Counted) -> None:
    """Count the true sentences that are flagged, and the citations that do not say them."""
    shown = [(draft.text[one.start : one.end], one) for one in draft.statements]
    flagged = _flagged(draft)
    to.clean += draft.outcome == "answer" and draft.model == Replayed.name and not flagged
    cited = {one.marker: one for one in draft.citations}
    for sentence in (one for one in reply.sentences if one.role == "claim"):
        to.claims += 1
        to.supported += _is_supported(draft, sentence.text)
        if wrong := next((one for text, one in flagged if _is(text, sentence.text)), None):
            to.flagged += 1
            to.wrongly[_check(wrong.reason)] += 1
            to.trouble.append(f"{reply.id}: flagged ({wrong.reason}): {sentence.text}")
        saying = [hits[known[number] - 1].chunk for number in sentence.says]
        for marker in {marker for text, one in shown if _is(text, sentence.text) for marker in one.markers}:
            at = cited[marker]
            to.cited += 1
            right = any(
                one.document_id == at.document_id and one.start < at.end and at.start < one.end for one in saying
            )
            to.cited_right += right
            if not right:
                to.trouble.append(f"{reply.id}: cites {at.document_id} {at.quote[:80]!r}: {sentence.text}")


def _flagged(answer: Draft | WrittenAnswer) -> list[tuple[str, Statement]]:
    """Return the statements of an answer that are marked as wrong, each with its words."""
    return [(answer.text[one.start : one.end], one) for one in answer.statements if one.state in FLAGGED]


def _is_supported(answer: Draft | WrittenAnswer, sentence: str) -> bool:
    """Return whether every part of a sentence of the reply is shown as supported."""
    states = [one.state for one in answer.statements if _is(answer.text[one.start : one.end], sentence)]
    return bool(states) and all(state == "supported" for state in states)


def _is_flagged(answer: WrittenAnswer, sentence: str) -> bool:
    """Return whether a sentence of the reply is marked as wrong."""
    return any(_is(text, sentence) for text, _ in _flagged(answer))


def _check(reason: str) -> str:
    """Return what marked a sentence, by the first reason."""
    return next((name for begins, name in CHECKS.items() if reason.startswith(begins)), reason)


def _is(statement: str, sentence: str) -> bool:
    """Return whether a statement of the answer is, or is part of, a sentence of the reply."""
    one, other = (set(_WORD.findall(bare(text).casefold())) for text in (statement, sentence))
    return len(one & other) >= SAME * max(1, min(len(one), len(other)))


# ---------------------------------------------------------------- figures


def summary(counted: Mapping[Use, Counted], left_out: Sequence[str], presets: Sequence[Asked]) -> Result:
    """Return the tables and figures of what was counted."""
    rows = [[use, *_shown(_shares(of))] for use, of in counted.items()]
    of = counted["test"]
    changes = [[change, f"{of.caught[change]} of {count}"] for change, count in sorted(of.twins.items())]
    notes = [f"{one.missed} replies of {use}: their passages are not in the prompt" for use, one in counted.items()]
    notes += [f"left out, because the data are not there: {', '.join(left_out)}"] if left_out else []
    again = [[one.name, str(one.keeps), str(one.catches), *_shown(_again(of, one.name))] for one in JUDGES]
    tables = [
        Table(title="replies", columns=["use", *_shares(of)], rows=rows),
        Table(title="falsehoods caught, tests", columns=["change", "caught"], rows=changes),
        Table(
            title="what marks a sentence, tests",
            columns=["check", "true sentences marked", "false ones marked"],
            rows=[[name, str(of.wrongly[name]), str(of.rightly[name])] for name in CHECKS.values()],
        ),
        Table(
            title="with a second call, tests",
            columns=["judge", "keeps", "catches", *_again(of, JUDGES[0].name)],
            rows=again,
        ),
        *([table(presets)] if presets else []),
    ]
    figures = {name: round(value, 4) for name, value in _shares(of).items()}
    figures |= {f"{name}_{one.name}": round(value, 4) for one in JUDGES for name, value in _again(of, one.name).items()}
    figures |= {"replies": of.right + of.refusals, "passages_missed": of.missed}
    figures |= {f"replaced_{one.preset}": one.unread + one.replaced for one in presets}
    return Result(tables=tables, figures=figures, notes=notes)


def _shown(shares: Mapping[str, float]) -> list[str]:
    return [f"{value:.3f}" for value in shares.values()]


def _shares(of: Counted) -> dict[str, float]:
    stated = np.array([probability(known) for _, known, _ in of.inputs])
    right = np.array([one for _, _, one in of.inputs], dtype=bool)
    return {
        "clean": of.clean / max(of.right, 1),
        "refused_before_read": of.refused_unread,
        "true_flagged": of.flagged / max(of.claims, 1),
        "false_caught": of.caught.total() / max(of.twins.total(), 1),
        "true_supported": of.supported / max(of.claims, 1),
        "false_supported": of.twins_supported / max(of.twins.total(), 1),
        "refusals_kept": of.refusals_kept / max(of.refusals, 1),
        "refusals_kept_unprompted": of.refusals_kept_unprompted / max(of.refusals, 1),
        "answers_lost": of.answers_lost / max(of.right, 1),
        "answers_lost_unprompted": of.answers_lost_unprompted / max(of.right, 1),
        "citations_right": of.cited_right / max(of.cited, 1),
        "confidence_auc": auc(stated, right),
        "calibration_error": calibration_error(stated, right),
        "proof_cpu_seconds": float(np.median(of.seconds)) if of.seconds else 0.0,
    }


def _again(of: Counted, judge: str) -> dict[str, float]:
    """Return the figures of the second calls of a judge."""
    counts = of.again[judge]
    stated = np.array([probability(known) for known, _ in counts.inputs])
    right = np.array([one for _, one in counts.inputs], dtype=bool)
    return {
        "true_flagged": counts.flagged / max(of.claims, 1),
        "false_caught": counts.caught / max(of.twins.total(), 1),
        "prompt": float(np.median(counts.prompts or [0.0])),
        "reply": float(np.median(counts.replies or [0.0])),
        "seconds": float(np.median(counts.seconds or [0.0])),
        "confidence_auc": auc(stated, right),
    }


def auc(stated: Floats, right: NDArray[np.bool_]) -> float:
    """Return the share of pairs of a right and a false reply in which the right one is surer; ties count half."""
    up, down = stated[right], stated[~right]
    if not len(up) or not len(down):
        return 0.0
    gaps = up[:, None] - down[None, :]
    return float(np.mean(np.where(gaps == 0, 0.5, gaps > 0)))


def calibration_error(stated: Floats, right: NDArray[np.bool_]) -> float:
    """Return the mean distance of stated and true shares over ten bins; a false reply counts `FALSE_WEIGHT`."""
    weights = np.where(right, 1.0, FALSE_WEIGHT)
    bins = np.minimum(np.floor(stated * BINS), BINS - 1)
    error = 0.0
    for one in range(BINS):
        own = bins == one
        if own.any():
            error += abs(np.sum(weights[own] * (stated[own] - right[own])))
    return float(error / max(weights.sum(), 1e-9))


if __name__ == "__main__":
    main({"written_replies": measure}, "written_replies")
