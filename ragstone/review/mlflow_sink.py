"""Measurements as runs of MLflow: settings as parameters, means as metrics, reports as artefacts."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from ragstone.errors import MissingExtra, RagstoneError

if TYPE_CHECKING:
    from mlflow.tracking import MlflowClient  # pyright: ignore[reportMissingImports]

_AT_ONCE = 100
"""Parameters that MLflow takes at once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """What is recorded of one variant. ``artefacts`` are texts by the names of their files."""

    name: str
    parameters: Mapping[str, str]
    metrics: Mapping[str, float]
    artefacts: Mapping[str, str] = field(default_factory=dict)


def record(store: str, experiment: str, run: Run, parts: Sequence[Run] = ()) -> str:
    """Record a run, and others as parts of it; gives its id.

    Args:
        store: address of a tracking store as MLflow has them; a file that ends in ``.db`` is an SQLite database.
        experiment: made if there is none of this name.
        run: the whole.
        parts: such as the variants of a sweep.

    Raises:
        MissingExtra: MLflow is not installed.
        RagstoneError: the store cannot be written to.
    """
    # It reports its use to its makers unless told not to before it is imported.
    os.environ.setdefault("MLFLOW_DISABLE_TELEMETRY", "true")
    os.environ.setdefault("MLFLOW_LOGGING_LEVEL", "WARNING")
    try:
        from mlflow.exceptions import MlflowException  # pyright: ignore[reportMissingImports]
        from mlflow.tracking import MlflowClient  # pyright: ignore[reportMissingImports]
    except ImportError as error:
        raise MissingExtra("mlflow-skinny", extra="mlflow") from error
    address, files = _address(store)
    try:
        client = MlflowClient(tracking_uri=address, registry_uri=address)
        found = client.get_experiment_by_name(experiment)
        id = found.experiment_id if found else client.create_experiment(experiment, artifact_location=files)
        whole = _write(client, id, run, {})
        for part in parts:
            _write(client, id, part, {"mlflow.parentRunId": whole})
    except (MlflowException, OSError) as error:
        raise RagstoneError(f"the MLflow store {store} cannot be written to: {error}") from error
    return whole


def _address(store: str) -> tuple[str, str | None]:
    """The store as MLflow names it, and where artefacts go: for a database in a file, a folder beside it."""
    if not store.endswith(".db"):
        return store, None
    path = Path(store.removeprefix("sqlite:///")).resolve()
    return f"sqlite:///{path}", path.with_name(f"{path.stem}-artefacts").as_uri()


def _write(client: MlflowClient, experiment: str, run: Run, tags: Mapping[str, str]) -> str:
    from mlflow.entities import Metric, Param  # pyright: ignore[reportMissingImports]

    now = int(time.time() * 1000)
    id = client.create_run(experiment, run_name=run.name, tags=dict(tags)).info.run_id
    # MLflow takes no @ in a name.
    metrics = [Metric(name.replace("@", "_at_"), value, now, 0) for name, value in run.metrics.items()]
    parameters = [Param(name, value) for name, value in run.parameters.items()]
    client.log_batch(id, metrics=metrics)
    for start in range(0, len(parameters), _AT_ONCE):
        client.log_batch(id, params=parameters[start : start + _AT_ONCE])
    for name, text in run.artefacts.items():
        client.log_text(id, text, name)
    client.set_terminated(id)
    return id
