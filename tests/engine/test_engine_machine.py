"""An engine against a plain dict, through random histories with crashes, rebuilds, backups and restores."""

import asyncio
import shutil
import tempfile
from pathlib import Path

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule
from kb import add, check_whole, open_fast, parts

from ragstone.core.access import OWNER
from ragstone.core.records import Document
from ragstone.engine.backup import backup, restore
from ragstone.engine.doctor import doctor

IDS = st.sampled_from(["a", "b", "c", "d"])
TEXTS = st.lists(st.integers(0, 5).map(lambda i: f"paragraph {i} " + "filler words " * 9), min_size=1, max_size=3)
DOCUMENTS = st.builds(lambda id, texts: Document(id=id, text="\n\n".join(texts)), IDS, TEXTS)
NAMES = st.sampled_from(["x.txt", "y.txt"])


class Machine(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.root = Path(tempfile.mkdtemp()).resolve()
        self.sources = self.root / "sources"
        self.sources.mkdir()
        self.model: dict[str, str] = {}
        self.copied: dict[str, str] | None = None
        self.engine = open_fast(self.root / "kb")

    def reopen(self) -> None:
        self.engine.close()
        self.engine = open_fast(self.root / "kb", create=False)

    @rule(documents=st.lists(DOCUMENTS, min_size=1, max_size=3))
    def put(self, documents: list[Document]) -> None:
        add(self.engine, *documents)
        self.model |= {document.id: document.text for document in documents}

    @precondition(lambda self: self.model)
    @rule(data=st.data())
    def remove(self, data: st.DataObject) -> None:
        id = data.draw(st.sampled_from(sorted(self.model)))
        self.engine.documents.remove([id], reader=OWNER)
        del self.model[id]

    @rule(texts=st.dictionaries(NAMES, TEXTS.map("\n\n".join), min_size=1))
    def sync(self, texts: dict[str, str]) -> None:
        for name in ("x.txt", "y.txt"):
            self.model.pop(f"sources/{name}", None)
            (self.sources / name).unlink(missing_ok=True)
        for name, text in texts.items():
            (self.sources / name).write_text(text)
            self.model[f"sources/{name}"] = text
        asyncio.run(self.engine.documents.sync([str(self.sources)]))

    @rule(size=st.sampled_from([120, 200]))
    def rebuild(self, size: int) -> None:
        asyncio.run(self.engine.versions.rebuild([f"chunk.size={size}"]))
        self.reopen()

    @rule()
    def open_again(self) -> None:
        self.reopen()

    @rule()
    def crash(self) -> None:
        """What lies there is all there is: the process is gone, nothing was closed."""
        shutil.copytree(self.root / "kb", self.root / "image", ignore=shutil.ignore_patterns("*-shm"))
        self.engine.close()
        shutil.rmtree(self.root / "kb")
        (self.root / "image").rename(self.root / "kb")
        self.reopen()

    @rule()
    def back_up(self) -> None:
        shutil.rmtree(self.root / "copy", ignore_errors=True)
        assert backup(self.root / "kb", self.root / "copy").documents == len(self.model)
        self.copied = dict(self.model)

    @precondition(lambda self: self.copied is not None)
    @rule()
    def restore(self) -> None:
        assert self.copied is not None
        before = parts(self.engine).source.path
        restore(self.root / "copy", self.root / "kb", replace=True)
        self.model = dict(self.copied)
        assert parts(self.engine).source.path != before
        self.reopen()

    @rule()
    def see_the_doctor(self) -> None:
        assert doctor(self.root / "kb").findings == ()

    @invariant()
    def all_is_whole(self) -> None:
        stored = {document.id: document for document in parts(self.engine).catalog.documents()}
        assert {id: document.text for id, document in stored.items()} == self.model
        check_whole(parts(self.engine).source.path / "catalog.db", stored, self.engine.settings.chunk)
        hits = asyncio.run(self.engine.search("filler paragraph", 1000, reader=OWNER))
        texts = {text for hit in hits for text in [hit.chunk.text]}
        assert all(any(text in whole for whole in self.model.values()) for text in texts)
        assert bool(hits) is bool(self.model)

    def teardown(self) -> None:
        self.engine.close()
        shutil.rmtree(self.root)


TestEngineMachine = Machine.TestCase
TestEngineMachine.settings = settings(max_examples=8, stateful_step_count=10)
