"""Knowledge bases to measure on: one for each way of storing the documents, shared by all settings that store alike."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import ExitStack, asynccontextmanager, closing
from pathlib import Path
from tempfile import TemporaryDirectory

from ragstone import index
from ragstone.config import Tree, leaves, load, written
from ragstone.engine import Engine
from ragstone.errors import UsageError
from ragstone.experiment.memory import Remembering
from ragstone.keeping.built import PATHS, BuiltWith
from ragstone.protocols import Embedder
from ragstone.reports import Progress
from ragstone.review.dataset import Dataset
from ragstone.review.dataset import load as load_dataset
from ragstone.review.questions import read_questions
from ragstone.sections import CacheSettings, IndexSettings, Settings
from ragstone.services import ServiceSettings

OnMessage = Callable[[str], None]

NO_CACHE = ("cache.enabled=false",)
"""What is measured is worked out anew every time."""
LIVE = Path(".ragstone")
"""The knowledge base that a CSV of questions is asked of, where none is named."""


class Bench:
    """A data set, and engines to measure on it.

    Settings that differ only in what a question needs share one knowledge base, its indexes in memory and one
    embedder, which embeds each text once; settings that store something else get a knowledge base of their own.
    """

    def __init__(self, keep: Path, stack: ExitStack, on_progress: OnMessage | None) -> None:
        self._keep, self._stack, self._on_progress = keep, stack, on_progress
        self._embedders: dict[tuple[str, int, str, int], Remembering] = {}
        self._stores: dict[tuple[str, ...], Engine] = {}
        self._remembered: Tree | None = None
        self.dataset: Dataset

    @property
    def stores(self) -> int:
        """How many knowledge bases are open."""
        return len(self._stores)

    @property
    def saved(self) -> float:
        """Milliseconds that remembering saved so far."""
        return sum(embedder.saved for embedder in self._embedders.values())

    def settings(self, overrides: Sequence[str] = (), preset: str | None = None) -> Settings:
        """Settings as `Engine.open` would have them; what a live knowledge base was built with stands below a preset.

        Raises:
            SettingsError: one is wrong.
        """
        return load(overrides, preset=preset, remembered=None if preset else self._remembered).settings

    async def engine(self, settings: Settings) -> Engine:
        """An engine with these settings, its knowledge base filled if that has not been done; it need not be closed."""
        stored = _stored(settings)
        if stored not in self._stores:
            self._stores[stored] = await self._filled(settings, stored)
        return self._stores[stored].with_settings(uncached(settings))

    def open_live(self, folder: Path) -> Engine:
        """Take in a knowledge base as it stands, which is only read."""
        engine = self._stack.enter_context(closing(Engine.open(folder, NO_CACHE, build_embedder=self._build_embedder)))
        self._remembered = engine.remembered
        self._stores[_stored(engine.settings)] = engine
        return engine

    async def _filled(self, settings: Settings, stored: Sequence[str]) -> Engine:
        place = kept_at(
            self._keep, self.dataset.name, settings, self._build_embedder(settings.index, settings.services)
        )
        opened = Engine.open(place, (*stored, *NO_CACHE), create=True, build_embedder=self._build_embedder)
        engine = self._stack.enter_context(closing(opened))
        await add_corpus(engine, self.dataset, self._on_progress)
        return engine

    def _build_embedder(self, settings: IndexSettings, services: ServiceSettings) -> Embedder:
        key = (settings.embedder, settings.dimensions, settings.engine, settings.threads)
        if key not in self._embedders:
            self._embedders[key] = Remembering(index.build_embedder(settings, services))
        return self._embedders[key]


@asynccontextmanager
async def open_bench(
    data: Path, *, kb: Path | None = None, keep: Path | None = None, on_progress: OnMessage | None = None
) -> AsyncIterator[Bench]:
    """A bench for a data set; it is closed afterwards, and what was made only for it removed.

    Args:
        data: folder of a data set, or a CSV of questions about a knowledge base that is there.
        kb: that knowledge base; ``.ragstone`` if not given.
        keep: folder where knowledge bases that are made are kept for the next time.
        on_progress: told in words what has been done.

    Raises:
        SourceError: the data set is missing or malformed.
        NotFound: there is no such knowledge base.
        UsageError: ``kb`` is named for a data set that brings its own documents.
    """
    with ExitStack() as stack:
        place = keep or Path(stack.enter_context(TemporaryDirectory(prefix="ragstone-")))
        bench = Bench(place, stack, on_progress)
        if is_questions(data):
            live = bench.open_live(kb or LIVE)
            bench.dataset = read_questions(data, lambda source: live.document(source).id, live.documents)
        elif kb is not None:
            raise UsageError(f"{data} brings its own documents; --kb is for a CSV of questions, --keep for this")
        else:
            bench.dataset = load_dataset(data)
        yield bench


def uncached(settings: Settings) -> Settings:
    """The same settings without a cache: what is remembered costs nothing, and measuring leaves nothing behind."""
    review = settings.review.model_copy(update={"responses_days": 0.0, "statistics_days": 0.0})
    return settings.model_copy(update={"cache": CacheSettings(enabled=False, questions=False), "review": review})


def is_questions(data: Path) -> bool:
    """Whether this is a file of questions rather than the folder of a data set."""
    return data.is_file() or data.suffix.lower() in (".csv", ".tsv")


def kept_at(keep: Path, dataset: str, settings: Settings, embedder: Embedder) -> Path:
    """Where the knowledge base of a data set is kept: another place where it would be built otherwise."""
    return keep / f"{dataset.replace('/', '-')}-{BuiltWith.of(settings, embedder).fingerprint}"


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


def _stored(settings: Settings) -> tuple[str, ...]:
    """The settings that decide what is stored, as overrides."""
    return tuple(f"{path}={written(value)}" for path, _, value in leaves(settings) if path in PATHS)
