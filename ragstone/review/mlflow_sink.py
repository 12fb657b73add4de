"""Runs in an MLflow tracking store: settings as parameters, figures as metrics, reports and answers as artefacts."""

# mlflow is optional and untyped:
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportUnknownParameterType=false, reportUntypedBaseClass=false, reportMissingTypeStubs=false

from __future__ import annotations

import os
import re
import time
from collections.abc import Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import field
from pathlib import Path

from ragstone.core.errors import MissingExtra, RagstoneError
from ragstone.core.frozen import frozen

_PARAMETERS, _METRICS = 100, 1000
"""Parameters and metrics that MLflow accepts per call."""
_LONGEST = 6000
"""Characters of a parameter that MLflow accepts."""
_ENVIRONMENT = {
    "MLFLOW_DISABLE_TELEMETRY": "true",
    "MLFLOW_LOGGING_LEVEL": "WARNING",
    # By default a server that is away is waited for more than ten minutes.
    "MLFLOW_HTTP_REQUEST_MAX_RETRIES": "2",
    "MLFLOW_HTTP_REQUEST_TIMEOUT": "20",
}
"""Variables that MLflow reads when it is imported, unless the user has set them."""


@frozen
class Run:
    """One recorded variant. ``artefacts`` maps file names to texts."""

    name: str
    parameters: Mapping[str, str]
    metrics: Mapping[str, float]
    artefacts: Mapping[str, str] = field(default_factory=dict[str, str])


@frozen
class Point:
    """The metrics of one step, such as one question; ``at`` is in seconds since 1970."""

    metrics: Mapping[str, float]
    step: int = 0
    at: float = field(default_factory=time.time)


class Store:
    """An MLflow tracking store."""

    def __init__(self, store: str) -> None:
        """Open a store, and make it if it is a file that is not there.

        Args:
            store: a folder, or a file that ends in ``.db``: both are an SQLite database; or the address of a server.

        Raises:
            MissingExtra: MLflow is not installed.
            RagstoneError: the store cannot be opened.
        """
        for name, value in _ENVIRONMENT.items():
            os.environ.setdefault(name, value)
        try:
            from mlflow.exceptions import MlflowException  # pyright: ignore[reportMissingImports]
            from mlflow.tracking import MlflowClient  # pyright: ignore[reportMissingImports]
        except ImportError as error:
            raise MissingExtra("mlflow-skinny", extra="mlflow") from error
        self._name, self._failures = store, (MlflowException, OSError, ImportError)
        with self._writing():
            address, self._files = _address(store)
            self._client = MlflowClient(tracking_uri=address, registry_uri=address)

    def start(
        self, experiment: str, run: str, parameters: Mapping[str, str], *, at: float = 0.0, under: str = ""
    ) -> str:
        """Start a run and return its id.

        Args:
            experiment: created if it does not exist.
            run: a name.
            parameters: of the run.
            at: when it began, in seconds since 1970; now if 0.
            under: id of the run that it is a part of.

        Raises:
            RagstoneError: the store cannot be written to.
        """
        from mlflow.entities import Param  # pyright: ignore[reportMissingImports]

        tags = {"mlflow.source.name": "ragstone"} | ({"mlflow.parentRunId": under} if under else {})
        params = [Param(name, value[:_LONGEST]) for name, value in parameters.items()]
        with self._writing():
            found = self._client.get_experiment_by_name(experiment)
            id = found.experiment_id if found else self._client.create_experiment(experiment, self._files)
            began = int((at or time.time()) * 1000)
            new = self._client.create_run(id, start_time=began, run_name=run, tags=tags).info.run_id
            for start in range(0, len(params), _PARAMETERS):
                self._client.log_batch(new, params=params[start : start + _PARAMETERS])
        return new

    def log(self, run: str, points: Iterable[Point]) -> None:
        """Add metrics to a run; raise `RagstoneError` if the store cannot be written to."""
        from mlflow.entities import Metric  # pyright: ignore[reportMissingImports]

        metrics = [
            Metric(_allowed(name), float(value), int(point.at * 1000), point.step)
            for point in points
            for name, value in point.metrics.items()
        ]
        with self._writing():
            for start in range(0, len(metrics), _METRICS):
                self._client.log_batch(run, metrics=metrics[start : start + _METRICS])

    def write(self, run: str, artefacts: Mapping[str, str]) -> None:
        """Write files of a run; raise `RagstoneError` if the store cannot be written to."""
        with self._writing():
            for name, text in artefacts.items():
                self._client.log_text(run, text, name)

    def end(self, run: str, *, failed: bool = False) -> None:
        """End a run; raise `RagstoneError` if the store cannot be written to."""
        with self._writing():
            self._client.set_terminated(run, "FAILED" if failed else "FINISHED")

    @contextmanager
    def _writing(self) -> Generator[None]:
        try:
            yield
        except self._failures as error:
            raise RagstoneError(f"the MLflow store {self._name} cannot be written to: {error}") from error


def record(store: str, experiment: str, run: Run, parts: Sequence[Run] = ()) -> str:
    """Record a run with nested runs, and return its id.

    Args:
        store: as for `Store`.
        experiment: created if it does not exist.
        run: the parent run.
        parts: nested runs, such as the variants of a sweep.

    Raises:
        MissingExtra: MLflow is not installed.
        RagstoneError: the store cannot be written to.
    """
    opened, whole = Store(store), ""
    for one in (run, *parts):
        id = opened.start(experiment, one.name, one.parameters, under=whole)
        opened.log(id, [Point(metrics=one.metrics)])
        opened.write(id, one.artefacts)
        opened.end(id)
        whole = whole or id
    return whole


def _address(store: str) -> tuple[str, str | None]:
    """Return the address of a store and, for a database file, the folder of its artefacts."""
    if "://" in store and not store.startswith("sqlite:///"):
        return store, None
    path = Path(store.removeprefix("sqlite:///")).resolve()
    if path.suffix == ".db" or "://" in store:
        files = path.with_name(f"{path.stem}-artefacts")
    else:
        path, files = path / "mlflow.db", path / "artefacts"
    path.parent.mkdir(parents=True, exist_ok=True)
    return f"sqlite:///{path}", files.as_uri()


def _allowed(name: str) -> str:
    """Return a name without the characters that MLflow refuses in names of metrics, such as the one in ``ndcg@10``."""
    return re.sub(r"[^\w./ -]", "_", name.replace("@", "_at_"))
