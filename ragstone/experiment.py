"""Measures Ragstone itself on a data set: adds its documents, asks its questions, compares with what is known."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack, closing
from pathlib import Path
from tempfile import TemporaryDirectory

from ragstone.contracts import Progress
from ragstone.engine import Engine
from ragstone.errors import UsageError
from ragstone.review.dataset import Dataset, load
from ragstone.review.evaluate import EvalReport, evaluate

OnMessage = Callable[[str], None]

_MESSAGES = 10
"""How often, at most, the questions done are told."""


async def evaluate_dataset(
    folder: Path,
    overrides: Sequence[str] = (),
    *,
    preset: str | None = None,
    kb: Path | None = None,
    limit: int | None = None,
    answers: bool = True,
    on_progress: OnMessage | None = None,
) -> EvalReport:
    """Index the documents of a data set and measure the search, and the answers where the set can judge them.

    The settings are measured as they are: no measure sees more than ``query.fetch_k`` chunks of a leg.

    Args:
        folder: the data set; see `ragstone.review.dataset`.
        overrides: settings as ``path=value``.
        preset: name or path of a preset.
        kb: where the knowledge base is kept, so that a second run embeds nothing; a temporary folder if not given.
        limit: this many questions at most, spread evenly over the data set.
        answers: False measures the search alone.
        on_progress: told in words what has been done.

    Raises:
        SourceError: the data set is missing or malformed.
        SettingsError: a setting is wrong.
        SettingsMismatch: ``kb`` was built with other settings.
        UsageError: ``kb`` holds other documents than those of the data set.
    """
    dataset = load(folder)
    with ExitStack() as stack:
        place = kb or Path(stack.enter_context(TemporaryDirectory(prefix="ragstone-")))
        engine = stack.enter_context(closing(Engine.open(place, overrides, preset=preset, create=True)))
        await add_corpus(engine, dataset, on_progress)
        ask = engine.ask if answers and _judges_answers(dataset) else None
        return await evaluate(dataset, engine.search, ask, limit=limit, on_progress=_told(on_progress))


async def add_corpus(engine: Engine, dataset: Dataset, on_progress: OnMessage | None = None) -> None:
    """Add the documents of a data set under their own ids, and check that the knowledge base holds no others.

    Raises:
        UsageError: it does hold others, among which the questions would be answered.
    """

    def told(progress: Progress) -> None:
        if on_progress is not None:
            on_progress(f"{progress.documents} documents added")

    report = await engine.add(list(dataset.documents()), told)
    expected, status = report.added + report.updated + report.unchanged, engine.status()
    if status.documents != expected:
        raise UsageError(
            f"{status.folder} holds {status.documents} documents, the data set {dataset.name} has {expected};"
            " name a folder of its own for each data set"
        )


def _judges_answers(dataset: Dataset) -> bool:
    return any(query.evidence_sentences or not query.answerable for query in dataset.queries)


def _told(on_progress: OnMessage | None) -> Callable[[int, int], None]:
    def told(done: int, total: int) -> None:
        if on_progress is not None and (done == total or done % max(1, total // _MESSAGES) == 0):
            on_progress(f"{done} of {total} questions asked")

    return told
