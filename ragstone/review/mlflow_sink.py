"""Record measurements as MLflow runs: settings as parameters, means as metrics, reports as artefacts."""

# mlflow is optional and untyped:
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportUnknownParameterType=false, reportUntypedBaseClass=false, reportMissingTypeStubs=false

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from ragstone.core.errors import MissingExtra, RagstoneError

if TYPE_CHECKING:
    from mlflow.tracking import MlflowClient  # pyright: ignore[reportMissingImports]

_BATCH = 100
"""Parameters that MLflow accepts per call."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One recorded variant. ``artefacts`` maps file names to texts."""

    name: str
    parameters: Mapping[str, str]
    metrics: Mapping[str, float]
    artefacts: Mapping[str, str] = field(default_factory=dict[str, str])


def record(store: str, experiment: str, run: Run, parts: Sequence[Run] = ()) -> str:
    """Record a run with nested runs, and return its id.

    Args:
        store: address of a tracking store; a file that ends in ``.db`` is an SQLite database.
        experiment: created if it does not exist.
        run: the parent run.
        parts: nested runs, such as the variants of a sweep.

    Raises:
        MissingExtra: MLflow is not installed.
        RagstoneError: the store cannot be written to.
    """
    # MLflow sends telemetry unless this is set before it is imported.
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
    """Return the address of the store, and the folder of the artefacts if the store is a database file."""
    if not store.endswith(".db"):
        return store, None
    path = Path(store.removeprefix("sqlite:///")).resolve()
    return f"sqlite:///{path}", path.with_name(f"{path.stem}-artefacts").as_uri()


def _write(client: MlflowClient, experiment: str, run: Run, tags: Mapping[str, str]) -> str:
    from mlflow.entities import Metric, Param  # pyright: ignore[reportMissingImports]

    now = int(time.time() * 1000)
    id = client.create_run(experiment, run_name=run.name, tags=dict(tags)).info.run_id
    # MLflow does not allow @ in names.
    metrics = [Metric(name.replace("@", "_at_"), value, now, 0) for name, value in run.metrics.items()]
    parameters = [Param(name, value) for name, value in run.parameters.items()]
    client.log_batch(id, metrics=metrics)
    for start in range(0, len(parameters), _BATCH):
        client.log_batch(id, params=parameters[start : start + _BATCH])
    for name, text in run.artefacts.items():
        client.log_text(id, text, name)
    client.set_terminated(id)
    return id
