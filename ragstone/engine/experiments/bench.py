"""Knowledge bases for measurements; settings that store documents in the same way share one."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import ExitStack, asynccontextmanager, closing
from pathlib import Path
from tempfile import TemporaryDirectory

from ragstone import index
from ragstone.catalog.location import engines_in_use
from ragstone.core.access import OWNER
from ragstone.core.errors import UsageError
from ragstone.core.protocols import Embedder
from ragstone.core.reports import Progress
from ragstone.engine.built import PATHS, BuiltWith
from ragstone.engine.experiments.memory import MemoizedEmbedder
from ragstone.engine.knowledge_base import KnowledgeBase
from ragstone.engine.opening import MEASURING, uncached
from ragstone.review.dataset import Dataset
from ragstone.review.dataset import load as load_dataset
from ragstone.review.questions import read_questions
from ragstone.settings import IndexSettings, Settings
from ragstone.settings.load import Tree, leaves, load, written
from ragstone.settings.services import ServiceSettings

OnMessage = Callable[[str], None]

LIVE = Path(".ragstone")
"""Default knowledge base for a CSV of questions."""


class Bench:
    """A data set, and knowledge bases to measure on it.

    Settings that differ only in how questions are answered share a knowledge base, its indexes in memory and an
    embedder, which embeds each text once. Settings that change what is stored get another knowledge base.
    """

    def __init__(self, keep: Path, stack: ExitStack, on_progress: OnMessage | None) -> None:
        self._keep, self._stack, self._on_progress = keep, stack, on_progress
        self._embedders: dict[tuple[str, int, int], MemoizedEmbedder] = {}
        self._stores: dict[tuple[str, ...], KnowledgeBase] = {}
        self._remembered: Tree | None = None
        self.dataset: Dataset

    @property
    def stores(self) -> int:
        """Number of open knowledge bases."""
        return len(self._stores)

    @property
    def saved(self) -> float:
        """Milliseconds that memoized embeddings saved so far."""
        return sum(embedder.saved for embedder in self._embedders.values())

    def settings(self, overrides: Sequence[str] = (), preset: str | None = None) -> Settings:
        """Return the settings that `KnowledgeBase.open` would use; a preset overrides those of a live knowledge base.

        Raises:
            SettingsError: a setting or its value is invalid.
        """
        return load(overrides, preset=preset, remembered=None if preset else self._remembered).settings

    async def open(self, settings: Settings) -> KnowledgeBase:
        """Return a knowledge base with these settings and all documents; the bench closes it."""
        stored = _storage_overrides(settings)
        if stored not in self._stores:
            self._stores[stored] = await self._filled(settings, stored)
        return self._stores[stored].under(lambda _: uncached(settings))

    def open_live(self, folder: Path) -> KnowledgeBase:
        """Open an existing knowledge base, read-only, add it to the bench and return it."""
        kb = self._stack.enter_context(
            closing(KnowledgeBase.open(folder, MEASURING, build_embedder=self._build_embedder))
        )
        self._remembered = _built_settings(kb)
        self._stores[_storage_overrides(kb.settings)] = kb
        return kb

    async def _filled(self, settings: Settings, stored: Sequence[str]) -> KnowledgeBase:
        place = dataset_folder(
            self._keep, self.dataset.name, settings, self._build_embedder(settings.index, settings.services)
        )
        opened = KnowledgeBase.open(place, (*stored, *MEASURING), create=True, build_embedder=self._build_embedder)
        kb = self._stack.enter_context(closing(opened))
        await add_corpus(kb, self.dataset, self._on_progress)
        return kb

    def _build_embedder(self, settings: IndexSettings, services: ServiceSettings) -> Embedder:
        key = (settings.embedder, settings.dimensions, settings.threads)
        if key not in self._embedders:
            self._embedders[key] = MemoizedEmbedder(index.build_embedder(settings, services))
        return self._embedders[key]


@asynccontextmanager
async def open_bench(
    data: Path, *, kb: Path | None = None, keep: Path | None = None, on_progress: OnMessage | None = None
) -> AsyncGenerator[Bench]:
    """Open a bench for a data set; close it and remove its temporary files at the end.

    Args:
        data: folder of a data set, or a CSV of questions about an existing knowledge base.
        kb: that knowledge base; ``.ragstone`` by default.
        keep: folder that keeps the built knowledge bases for reuse; a temporary folder by default.
        on_progress: called with a message about each step.

    Raises:
        SourceError: the data set is missing or malformed.
        NotFound: there is no such knowledge base.
        UsageError: ``kb`` is given for a data set with its own documents.
    """
    with ExitStack() as stack:
        place = keep or Path(stack.enter_context(TemporaryDirectory(prefix="ragstone-")))
        bench = Bench(place, stack, on_progress)
        if is_questions(data):
            live = bench.open_live(kb or LIVE)
            bench.dataset = read_questions(
                data, lambda source: live.documents.get(source, reader=OWNER).id, live.documents.all
            )
        elif kb is not None:
            raise UsageError(f"{data} brings its own documents; --kb is for a CSV of questions, --keep for this")
        else:
            bench.dataset = load_dataset(data)
        yield bench


def is_questions(data: Path) -> bool:
    """Return whether this is a CSV of questions rather than the folder of a data set."""
    return data.is_file() or data.suffix.lower() in (".csv", ".tsv")


def dataset_folder(keep: Path, dataset: str, settings: Settings, embedder: Embedder) -> Path:
    """Return the folder of the knowledge base for a data set; settings that store documents differently get another."""
    return keep / f"{dataset.replace('/', '-')}-{BuiltWith.of(settings, embedder).fingerprint}"


async def add_corpus(kb: KnowledgeBase, dataset: Dataset, on_progress: OnMessage | None = None) -> None:
    """Add the documents of a data set under their ids, and check that the knowledge base has no others.

    Raises:
        UsageError: the knowledge base has other documents, which would distort the measurement.
    """

    def report_count(progress: Progress) -> None:
        if on_progress is not None:
            on_progress(f"{progress.documents} documents added")

    report = await kb.documents.add(list(dataset.documents()), report_count)
    expected, status = report.added + report.updated + report.unchanged, kb.status()
    if status.documents != expected:
        raise UsageError(
            f"{status.folder} has {status.documents} documents, but the data set {dataset.name} has {expected};"
            " use a separate folder for each data set"
        )


def _built_settings(kb: KnowledgeBase) -> Tree:
    """Return the settings stored with a knowledge base."""
    with kb.current() as version:
        return version.built.remembered(engines_in_use(version.location.shelf))


def _storage_overrides(settings: Settings) -> tuple[str, ...]:
    """Return the settings that affect what is stored, as overrides."""
    return tuple(f"{path}={written(value)}" for path, _, value in leaves(settings) if path in PATHS)
