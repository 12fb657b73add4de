"""``ragstone index`` as a user runs it."""

from __future__ import annotations

from pathlib import Path

import pytest
from running import Run

pytest.importorskip("faiss", reason="needs faiss-cpu")


def test_an_engine_is_taken_into_use_and_compared(run: Run, workdir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (workdir / "a.md").write_text("The mast is 30 metres tall.")
    assert run("add", "a.md").code == 0
    assert "all indexes are embedded" in run("index", "verify").out
    used = run("index", "use", "--vectors", "faiss:Flat")
    assert used.out == "vectors: faiss:Flat from now on\n  vectors in faiss:Flat: up to date\n"
    assert run("settings", "--json").json["settings"]
    lines = run("settings").out.splitlines()
    assert "knowledge base" in next(one for one in lines if one.startswith("index.vectors"))
    compared = run("index", "verify", "--json")
    assert (compared.code, compared.json["well"], compared.json["findings"]) == (0, True, [])
    assert "30 metres" in run("ask", "How tall is the mast?").out

    refused = run("index", "use")
    assert (refused.code, refused.err.partition(":")[2]) == (
        2,
        " name an engine: --vectors ENGINE, --keywords ENGINE, or both\n",
    )
    away = run("index", "use", "--vectors", "qdrant", "--set", "services.qdrant.url=http://127.0.0.1:9")
    assert away.code == 1
    assert "cannot be reached" in away.err
    assert "faiss:Flat" in run("status").out

    monkeypatch.setenv("RAGSTONE_INDEX__VECTORS", "faiss:Flat")
    back = run("index", "use", "--vectors", "embedded", "--json")
    assert back.json == {"engines": {"vectors": "embedded"}, "outside": []}
    assert "index.vectors is set to faiss:Flat here" in back.err
