"""Every benchmark, one after another. ``--write`` puts the results into docs/benchmarks.md."""

from __future__ import annotations

from benchmarks import (
    access,
    answers,
    availability,
    caches,
    chunking,
    companion,
    durability,
    embed,
    faults,
    ingest,
    injection,
    judge,
    language,
    load,
    parsing,
    presets,
    query,
    rerank,
    retrieval,
    shared_catalog,
    startup,
    streaming,
    sync,
    workers,
)
from benchmarks.common import Options, Result, main


async def _parsing(options: Options) -> Result:
    return parsing.measure(None, quick=options.quick)


ALL = {
    "startup": startup.measure,
    "parsing": _parsing,
    "chunking": chunking.measure,
    "embed": embed.measure,
    "ingest": ingest.measure,
    "sync": sync.measure,
    "workers": workers.measure,
    "access": access.measure,
    "caches": caches.measure,
    "durability": durability.measure,
    "faults": faults.measure,
    "availability": availability.measure,
    "load": load.measure,
    "shared_catalog": shared_catalog.measure,
    "injection": injection.measure,
    "query": query.measure,
    "answers": answers.measure,
    "judge": judge.measure,
    "streaming": streaming.measure,
    "retrieval": retrieval.measure,
    "rerank": rerank.measure,
    "presets": presets.measure,
    "companion": companion.measure,
    "language": language.measure,
}

if __name__ == "__main__":
    main(ALL, "run")
