"""Runs the benchmarks one after another. ``--write`` puts the results into docs/benchmarks.md.

Benchmarks that install gigabytes of other systems, or that have pages of their own, are not among them.
"""

from __future__ import annotations

from benchmarks import (
    access,
    answers,
    chunking,
    ingest,
    injection,
    language,
    load,
    outages,
    parsing,
    presets,
    query,
    retrieval,
    shared_catalog,
    startup,
    streaming,
)
from benchmarks.common import main

ALL = {
    "startup": startup.measure,
    "parsing": parsing.measure,
    "chunking": chunking.measure,
    "ingest": ingest.measure,
    "query": query.measure,
    "load": load.measure,
    "streaming": streaming.measure,
    "retrieval": retrieval.measure,
    "presets": presets.measure,
    "language": language.measure,
    "answers": answers.measure,
    "access": access.measure,
    "injection": injection.measure,
    "outages": outages.measure,
    "shared_catalog": shared_catalog.measure,
}

if __name__ == "__main__":
    main(ALL, "run")
