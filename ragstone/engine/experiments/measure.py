"""Measures one configuration, on a data set with its own documents or on a knowledge base in use."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack, closing
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from ragstone.core.access import OWNER, READERS, Reader
from ragstone.core.listeners import Listeners
from ragstone.engine.experiments.bench import LIVE, OnMessage, add_corpus, is_questions
from ragstone.engine.knowledge_base import KnowledgeBase
from ragstone.engine.opening import MEASURING, uncached
from ragstone.question import kind
from ragstone.review.dataset import Dataset, load
from ragstone.review.evaluate import evaluate
from ragstone.review.questions import read_questions
from ragstone.review.report import EvalReport
from ragstone.settings import Settings
from ragstone.settings.load import leaves, written
from ragstone.settings.load import load as load_settings

_MESSAGES = 10
"""Maximum of progress messages."""


async def evaluate_dataset(
    data: Path,
    overrides: Sequence[str] = (),
    *,
    preset: str | None = None,
    kb: Path | None = None,
    limit: int | None = None,
    answers: bool = True,
    reader: Reader = OWNER,
    on_progress: OnMessage | None = None,
) -> EvalReport:
    """Measure the search, and the answers if the data can judge them, and return a report.

    The documents of a data set are indexed first. Questions from a CSV run on an existing knowledge base. Measures
    see no more than ``query.fetch_k`` chunks of each leg, as in normal use.

    Args:
        data: folder of a data set, see `ragstone.review.dataset`, or a CSV, see `ragstone.review.questions`.
        overrides: settings as ``path=value``.
        preset: name or path of a preset.
        kb: for a data set, the folder of its knowledge base, so that a second run embeds nothing; a temporary folder
            by default. For a CSV, the knowledge base to ask; ``.ragstone`` by default.
        limit: maximum of questions, spread evenly over the data set.
        answers: False measures only the search.
        reader: the reader who asks. A question is unanswerable if this reader may read none of its documents.
        on_progress: called with a message about each step.

    Raises:
        SourceError: the data is missing or malformed.
        SettingsError: a setting or its value is invalid.
        SettingsMismatch: ``kb`` was built with other settings.
        NotFound: there is no knowledge base to ask.
        UsageError: ``kb`` has documents outside of the data set.
    """
    if is_questions(data):
        with closing(KnowledgeBase.open(kb or LIVE, overrides, preset=preset)) as live:
            return await evaluate_questions(
                live, data, limit=limit, answers=answers, reader=reader, on_progress=on_progress
            )
    dataset = load(data)
    with ExitStack() as stack:
        place = kb or Path(stack.enter_context(TemporaryDirectory(prefix="ragstone-")))
        filled = stack.enter_context(
            closing(KnowledgeBase.open(place, (*overrides, *MEASURING), preset=preset, create=True))
        )
        await add_corpus(filled, dataset, on_progress)
        report = await _evaluated(filled, dataset, limit, answers, reader, on_progress)
        wanted = stamped(report, load_settings(overrides, preset=preset).settings).settings
        measured = (one.partition("=")[0] for one in MEASURING)
        return replace(report, settings={**report.settings, **{path: wanted[path] for path in measured}})


async def evaluate_questions(
    kb: KnowledgeBase,
    questions: Path,
    *,
    limit: int | None = None,
    answers: bool = True,
    reader: Reader = OWNER,
    on_progress: OnMessage | None = None,
) -> EvalReport:
    """Measure an existing knowledge base on questions from a CSV and return a report; see `evaluate_dataset`.

    Raises:
        SourceError: the CSV is missing or malformed, or names an unknown document.
    """
    dataset = read_questions(questions, lambda source: kb.documents.get(source, reader=OWNER).id, kb.documents.all)
    return await _evaluated(kb, dataset, limit, answers, reader, on_progress)


def readable(dataset: Dataset, kb: KnowledgeBase, reader: Reader) -> Dataset:
    """Return the data set without the documents that a reader may not read, and without their judgements.

    Questions that only those documents answer become unanswerable.
    """
    if reader.groups is None:
        return dataset
    judged = {id for judgements in dataset.qrels.values() for id in judgements}
    hidden = {
        id for id, groups in kb.documents.groups(sorted(judged)).items() if not reader.may_read({READERS: groups})
    }
    qrels = {
        query: {id: relevance for id, relevance in judgements.items() if id not in hidden}
        for query, judgements in dataset.qrels.items()
    }
    lost = {query for query, judgements in dataset.qrels.items() if any(judgements.values()) and not qrels[query]}
    return replace(
        dataset,
        queries=tuple(replace(one, answerable=False) if one.id in lost else one for one in dataset.queries),
        qrels=qrels,
        documents=lambda: (one for one in dataset.documents() if one.id not in hidden),
    )


async def _evaluated(
    kb: KnowledgeBase, dataset: Dataset, limit: int | None, answers: bool, reader: Reader, on_progress: OnMessage | None
) -> EvalReport:
    dataset = readable(dataset, kb, reader)
    judges = any(query.evidence_sentences or not query.answerable for query in dataset.queries)
    measured = kb.under(uncached)
    measured.listeners = Listeners()  # a measurement is not heard as questions of people
    ask = partial(measured.ask, reader=reader) if answers and judges else None
    report = await evaluate(
        dataset,
        partial(measured.search, reader=reader),
        ask,
        limit=limit,
        kind_of=kind,
        on_progress=count_messages(on_progress),
    )
    return stamped(report, kb.settings)


def stamped(report: EvalReport, settings: Settings) -> EvalReport:
    """Return the report with its settings and the current time."""
    return replace(
        report,
        settings={path: written(value) for path, _, value in leaves(settings)},
        measured=datetime.now(UTC).isoformat(timespec="seconds"),
    )


def count_messages(on_progress: OnMessage | None) -> Callable[[int, int], None]:
    """Return a callback that turns question counts into a few messages."""

    def report_count(done: int, total: int) -> None:
        if on_progress is not None and (done == total or done % max(1, total // _MESSAGES) == 0):
            on_progress(f"{done} of {total} questions asked")

    return report_count
