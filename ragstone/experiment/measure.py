"""One way of setting Ragstone up, measured: on a data set with its own documents, or on a knowledge base in use."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack, closing
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from ragstone import query
from ragstone.access import OWNER, READERS, Reader
from ragstone.config import leaves, written
from ragstone.engine import Engine
from ragstone.experiment.bench import LIVE, NO_CACHE, OnMessage, add_corpus, is_questions, uncached
from ragstone.review.dataset import Dataset, load
from ragstone.review.evaluate import evaluate
from ragstone.review.questions import read_questions
from ragstone.review.report import EvalReport
from ragstone.sections import Settings

_MESSAGES = 10
"""How often, at most, the questions done are told."""


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
    """Measure the search, and the answers where the data can judge them.

    The documents of a data set are indexed first; questions from a CSV are asked of a knowledge base as it stands.
    The settings are measured as they are: no measure sees more than ``query.fetch_k`` chunks of a leg.

    Args:
        data: folder of a data set, see `ragstone.review.dataset`, or a CSV, see `ragstone.review.questions`.
        overrides: settings as ``path=value``.
        preset: name or path of a preset.
        kb: for a data set, where its knowledge base is kept, so that a second run embeds nothing; a temporary folder
            if not given. For a CSV the knowledge base asked, ``.ragstone`` if not given.
        limit: this many questions at most, spread evenly over the data set.
        answers: False measures the search alone.
        reader: who asks. What no document answers that this reader may read, is to be refused.
        on_progress: told in words what has been done.

    Raises:
        SourceError: the data is missing or malformed.
        SettingsError: a setting is wrong.
        SettingsMismatch: ``kb`` was built with other settings.
        NotFound: there is no knowledge base to ask.
        UsageError: ``kb`` holds other documents than those of the data set.
    """
    if is_questions(data):
        with closing(Engine.open(kb or LIVE, (*NO_CACHE, *overrides), preset=preset)) as engine:
            return await evaluate_questions(
                engine, data, limit=limit, answers=answers, reader=reader, on_progress=on_progress
            )
    dataset = load(data)
    with ExitStack() as stack:
        place = kb or Path(stack.enter_context(TemporaryDirectory(prefix="ragstone-")))
        engine = stack.enter_context(closing(Engine.open(place, (*NO_CACHE, *overrides), preset=preset, create=True)))
        await add_corpus(engine, dataset, on_progress)
        return await _evaluated(engine, dataset, limit, answers, reader, on_progress)


async def evaluate_questions(
    engine: Engine,
    questions: Path,
    *,
    limit: int | None = None,
    answers: bool = True,
    reader: Reader = OWNER,
    on_progress: OnMessage | None = None,
) -> EvalReport:
    """Measure a knowledge base as it stands on questions from a CSV; see `evaluate_dataset`.

    Raises:
        SourceError: the CSV is missing or malformed, or names a document that is not there.
    """
    dataset = read_questions(questions, lambda source: engine.document(source).id, engine.documents)
    return await _evaluated(engine, dataset, limit, answers, reader, on_progress)


def readable(dataset: Dataset, engine: Engine, reader: Reader) -> Dataset:
    """The data set as one reader knows it: without the documents, and the judgements of them, that others may read.

    What is answered only there is no longer answerable.
    """
    if reader.groups is None:
        return dataset
    judged = {id for judgements in dataset.qrels.values() for id in judgements}
    hidden = {id for id, groups in engine.readers(sorted(judged)).items() if not reader.may_read({READERS: groups})}
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
    engine: Engine, dataset: Dataset, limit: int | None, answers: bool, reader: Reader, on_progress: OnMessage | None
) -> EvalReport:
    dataset = readable(dataset, engine, reader)
    judges = any(query.evidence_sentences or not query.answerable for query in dataset.queries)
    measured = engine.with_settings(uncached(engine.settings))
    ask = partial(measured.ask, reader=reader) if answers and judges else None
    report = await evaluate(
        dataset,
        partial(measured.search, reader=reader),
        ask,
        limit=limit,
        kind_of=query.kind,
        on_progress=told(on_progress),
    )
    return stamped(report, engine.settings)


def stamped(report: EvalReport, settings: Settings) -> EvalReport:
    """A report that says under which settings it was measured, and when."""
    return replace(
        report,
        settings={path: written(value) for path, _, value in leaves(settings)},
        measured=datetime.now(UTC).isoformat(timespec="seconds"),
    )


def told(on_progress: OnMessage | None) -> Callable[[int, int], None]:
    """Counts of questions as messages, a few of them."""

    def counted(done: int, total: int) -> None:
        if on_progress is not None and (done == total or done % max(1, total // _MESSAGES) == 0):
            on_progress(f"{done} of {total} questions asked")

    return counted
