"""``ragstone.query.where.matches`` says what a filter means; the catalog and every index must let through the same.

The one difference allowed: whole numbers beyond 64 bits are compared as the nearest float.
"""

import asyncio
from collections.abc import Mapping
from pathlib import Path

from drawn import FACTS_OF_ANY_KIND, FILTERS
from hypothesis import given, settings
from hypothesis import strategies as st
from kb import commit

from ragstone.catalog.sqlite import create_catalog
from ragstone.core.filters import And, Compare, Exists, Filter, In, Not, Or, Scalar
from ragstone.core.records import Chunk, Document, Mark
from ragstone.index.keyword.analyze import Plain
from ragstone.index.keyword.bm25 import TermIndex
from ragstone.index.vectors.embedded import EmbeddedVectors
from ragstone.query.where import matches
from ragstone.settings import ChunkSettings


def seen_by_filters(document: Document) -> Mapping[str, object]:
    """Metadata with the fields every document has; metadata of the same name is found too."""
    fields = {"id": document.id, "title": document.title, "url": document.url, "source": document.source}
    out = dict(document.metadata)
    for key, value in fields.items():
        told = out.get(key, ())
        out[key] = ((value,) if value else ()) + (told if isinstance(told, tuple) else (told,))
    return out


@settings(max_examples=25)
@given(data=st.data(), records=st.lists(FACTS_OF_ANY_KIND, min_size=1, max_size=12))
def test_all_select_the_same(tmp_path_factory, data: st.DataObject, records: list):
    folder: Path = tmp_path_factory.mktemp("filters")
    catalog = create_catalog(folder / "catalog.db", {})
    documents = [
        Document(id=f"doc{i}", text=f"same words {i}", title="a" if i % 2 else "", metadata=metadata)
        for i, metadata in enumerate(records)
    ]
    commit(catalog, *documents)
    terms = TermIndex(folder / "terms", catalog, Plain(), k1=1.2, b=0.75)
    terms.follow()
    vectors = EmbeddedVectors(folder / "vectors", catalog, dimensions=32, exact_limit=0)
    row_of = {chunk.document_id: row for row, chunk in catalog.chunks(list(range(1, 100))).items()}
    vector = next(iter(catalog.vectors([1]).values()))
    for where in data.draw(st.lists(FILTERS, min_size=5, max_size=8)):
        expected = sorted(row_of[one.id] for one in documents if matches(where, seen_by_filters(one)))
        assert catalog.select(where).tolist() == expected, where
        for found in (
            asyncio.run(terms.search(["same"], 100, where)),
            asyncio.run(vectors.search(vector, 100, where)),
        ):
            assert sorted(found.rows.tolist()) == expected, where
    catalog.close()


def test_numbers_beyond_64_bits_are_compared_as_floats(tmp_path: Path):
    catalog = create_catalog(tmp_path / "catalog.db", {})
    huge = {"n": 10**300, "m": -(2**900), "o": 2**64}
    commit(catalog, Document(id="d", text="x", metadata=huge))
    assert catalog.document("d").metadata == huge
    cases: list[tuple[Filter, bool]] = [
        (Compare(key="n", op=">", value=2**63), True),
        (Compare(key="n", op="<", value=10**400), True),
        (Compare(key="m", op="<", value=-(10**18)), True),
        (Compare(key="o", op="=", value=2**64), True),
        (Compare(key="o", op="=", value=float(2**64)), True),
        (In(key="o", values=(2**66, 10**5000)), False),
    ]
    for where, passes in cases:
        assert bool(len(catalog.select(where))) is passes, where
    catalog.close()


GUIDE = "Tool\n\nWhat it does.\n\nInstall\n\nRun this.\n\nsh install.sh\n\nWindows\n\nUse the other words."
MARKS = (
    ("heading", "Tool", 1, "Tool"),
    ("page", "Tool\n\nWhat it does.", 0, "1"),
    ("heading", "Install", 2, "Install"),
    ("page", "Install\n\nRun this.\n\nsh install.sh", 0, "2"),
    ("code", "sh install.sh", 0, "sh"),
    ("heading", "Windows", 2, "Windows"),
    ("page", "Windows\n\nUse the other words.", 0, "iii"),
)
FACTS: list[tuple[str, Scalar]] = [
    *(("section_title", title) for title in ("Tool", "Install", "Windows", "2")),
    *(("page", page) for page in ("1", "2", "iii", 2, True)),
    *(("is_code", value) for value in (True, False, 1, "true")),
    *(("token_count", number) for number in (2, 3, 5, 12, 27.5)),
    *(("section_level", level) for level in (1, 2)),
    ("lang", "de"),
]
FACT_LEAVES = st.one_of(
    st.builds(
        lambda fact, op: Compare(key=fact[0], op=op, value=fact[1]),
        st.sampled_from(FACTS),
        st.sampled_from(["=", "!=", "<", "<=", ">", ">="]),
    ),
    st.builds(Exists, key=st.sampled_from(["page", "section", "is_code", "lang"])),
)


@settings(max_examples=15)
@given(data=st.data())
def test_all_select_the_same_by_facts_of_chunks(tmp_path_factory, data: st.DataObject):
    """A chunk passes by what it is, or by what its document is; a document may use the same names."""
    folder: Path = tmp_path_factory.mktemp("facts")
    catalog = create_catalog(folder / "catalog.db", {})
    marks = tuple(
        Mark(kind=kind, start=GUIDE.index(words), end=GUIDE.index(words) + len(words), level=level, label=label)
        for kind, words, level, label in MARKS
    )
    documents = {
        one.id: one
        for one in (
            Document(id="guide", text=GUIDE, marks=marks, metadata={"lang": "de"}),
            Document(id="other", text=GUIDE, metadata={"page": "2", "is_code": ("true", 1), "section_title": "Tool"}),
            Document(id="third", text=GUIDE, marks=marks[:3], metadata={"page": ("iii", "x")}),
        )
    }
    commit(catalog, *documents.values(), settings=ChunkSettings(strategy="structure", size=40, overlap=0))
    terms = TermIndex(folder / "terms", catalog, Plain(), k1=1.2, b=0.75)
    terms.follow()
    vectors = EmbeddedVectors(folder / "vectors", catalog, dimensions=32, exact_limit=0)
    chunks = catalog.chunks(list(range(1, 100)))
    assert {chunk.facts.get("page") for chunk in chunks.values()} == {"1", "2", "iii", None}
    assert {chunk.facts["is_code"] for chunk in chunks.values()} == {True, False}
    words = [chunk.text.split()[0] for chunk in chunks.values()]
    vector = next(iter(catalog.vectors([1]).values()))
    filters = st.recursive(
        FACT_LEAVES,
        lambda inner: st.one_of(
            st.builds(Not, part=inner),
            st.builds(And, parts=st.lists(inner, max_size=2).map(tuple)),
            st.builds(Or, parts=st.lists(inner, max_size=2).map(tuple)),
        ),
        max_leaves=4,
    )
    for where in data.draw(st.lists(filters, min_size=5, max_size=8)):
        expected = [row for row, chunk in sorted(chunks.items()) if matches(where, of_both(chunk, documents))]
        assert catalog.select(where).tolist() == expected, where
        for found in (
            asyncio.run(terms.search([word.lower().strip(".") for word in words], 100, where)),
            asyncio.run(vectors.search(vector, 100, where)),
        ):
            assert sorted(found.rows.tolist()) == expected, where
    catalog.close()


def of_both(chunk: Chunk, documents: Mapping[str, Document]) -> Mapping[str, Scalar | tuple[Scalar, ...]]:
    """What a chunk and its document say of themselves, together."""
    out = dict(documents[chunk.document_id].metadata)
    for key, value in chunk.facts.items():
        told = out.get(key, ())
        out[key] = (value, *(told if isinstance(told, tuple) else (told,)))  # pyright: ignore[reportAssignmentType]
    return out
