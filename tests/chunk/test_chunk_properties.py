"""Properties of every strategy, for any text, script and size."""

import re
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragstone.chunk import fingerprint, sentences, split, text
from ragstone.chunk.units import paragraphs
from ragstone.core.records import Document, Span
from ragstone.settings import ChunkSettings

STRATEGIES = {
    "sliding_window": text.sliding_window,
    "sentence": text.by_sentence,
    "paragraph": text.by_paragraph,
    "recursive": text.recursive,
}
PIECES = st.sampled_from([
    "The cat sat.", "Dr. Ö. Müller kam am 3. Mai. ", "Привет, мир! ", "Как дела? ", "مرحبا بالعالم؟ ",
    "你好。", "天气很好，", "「はい」", "यह किताब है। ", "e\u0301\u0323", "👩‍👩‍👧‍👦", "👍🏽",
    "x" * 40, " ", "  ", "\n", "\n\n", "\n \n\n", "\t", "\r\n", "\u3000",
    "...", "- item\n",
])  # fmt: skip
TEXTS = st.lists(st.one_of(PIECES, st.text(max_size=12)), max_size=40).map("".join)


def words(whole: str) -> list[Span]:
    """Return stand-ins for tokens: runs of at most five characters without white space."""
    return [Span(start=m.start(), end=m.end()) for m in re.finditer(r"\S{1,5}", whole)]


@st.composite
def limits(draw: st.DrawFn) -> tuple[int, int]:
    size = draw(st.one_of(st.integers(1, 12), st.integers(20, 200)))
    return size, draw(st.integers(0, size - 1))


def blank_outside(whole: str, spans: list[Span]) -> bool:
    covered = bytearray(len(whole))
    for span in spans:
        covered[span.start : span.end] = b"\1" * (span.end - span.start)
    return all(inside or char.isspace() for inside, char in zip(covered, whole, strict=True))


@pytest.mark.parametrize("name", STRATEGIES)
@settings(deadline=None, max_examples=100)
@given(whole=TEXTS, limit=limits())
def test_spans_are_bounded_ordered_and_complete(name: str, whole: str, limit: tuple[int, int]):
    size, overlap = limit
    spans = STRATEGIES[name](whole, size, overlap)
    assert all(0 <= span.start < span.end <= len(whole) and span.end - span.start <= size for span in spans)
    assert all(span.of(whole).strip() for span in spans)
    assert blank_outside(whole, spans)
    for before, after in pairwise(spans):
        assert before.start < after.start
        assert before.end < after.end
        assert before.end - after.start <= overlap
    assert spans == STRATEGIES[name](whole, size, overlap)


@settings(deadline=None)
@given(whole=TEXTS, limit=limits())
def test_sliding_windows_lie_on_a_grid(whole: str, limit: tuple[int, int]):
    size, overlap = limit
    spans = text.sliding_window(whole, size, overlap)
    assert all(span.start % (size - overlap) == 0 for span in spans)
    assert all(span.end == min(span.start + size, len(whole)) for span in spans)


@pytest.mark.parametrize("name", ["sentence", "paragraph", "recursive"])
@settings(deadline=None)
@given(whole=TEXTS, limit=limits())
def test_other_spans_are_trimmed(name: str, whole: str, limit: tuple[int, int]):
    for span in STRATEGIES[name](whole, *limit):
        assert span.of(whole) == span.of(whole).strip()


@pytest.mark.parametrize(("name", "units"), [("sentence", sentences), ("paragraph", paragraphs)])
@settings(deadline=None)
@given(whole=TEXTS, limit=limits())
def test_units_that_fit_stay_whole(name: str, units, whole: str, limit: tuple[int, int]):
    size, overlap = limit
    spans = STRATEGIES[name](whole, size, overlap)
    for unit in units(whole):
        if unit.end - unit.start <= size:
            assert any(span.start <= unit.start and unit.end <= span.end for span in spans)


@settings(deadline=None)
@given(whole=TEXTS)
def test_sentences_cover_the_text_in_order(whole: str):
    spans = sentences(whole)
    assert blank_outside(whole, spans)
    assert all(span.of(whole) == span.of(whole).strip() != "" for span in spans)
    assert all(before.end <= after.start for before, after in pairwise(spans))


@settings(deadline=None)
@given(whole=TEXTS, document_id=st.text(max_size=8), strategy=st.sampled_from(list(STRATEGIES)))
def test_chunks_are_exact_with_stable_unique_ids(whole: str, document_id: str, strategy):
    document = Document(id=document_id, text=whole, title="T", url="https://x.example", metadata={"lang": "lt"})
    wanted = ChunkSettings(strategy=strategy, size=30, overlap=8)
    chunks = split(document, wanted, words)
    assert [chunk.text for chunk in chunks] == [whole[chunk.start : chunk.end] for chunk in chunks]
    assert len({chunk.id for chunk in chunks}) == len(chunks)
    assert chunks == split(document, wanted, words)
    for index, chunk in enumerate(chunks):
        assert (chunk.index, chunk.total, chunk.document_id) == (index, len(chunks), document_id)
        assert (chunk.title, chunk.url, chunk.metadata) == ("T", "https://x.example", {"lang": "lt"})


def test_a_known_chunk_id_never_changes():
    (chunk,) = split(Document(id="a.txt", text="One sentence."), ChunkSettings(), words)
    assert chunk.id == "992af1a221947cf86d9c49a2f34fcace"


def test_ids_differ_for_repeated_texts():
    cut = ChunkSettings(strategy="sentence", size=20, overlap=0)
    ids = [chunk.id for name in "ab" for chunk in split(Document(id=name, text="Same words here. " * 4), cut, words)]
    assert len(set(ids)) == len(ids) == 8


def test_fingerprint_differs_between_settings():
    kinds = [ChunkSettings(), ChunkSettings(size=800), ChunkSettings(overlap=10), ChunkSettings(strategy="sentence")]
    assert len({fingerprint(kind) for kind in kinds}) == 4
    assert fingerprint(ChunkSettings()) == fingerprint(ChunkSettings())


@pytest.mark.parametrize("name", STRATEGIES)
def test_blank_texts_give_no_chunks(name: str):
    for blank in ("", " ", "\n\n \t\n", " " * 500):
        assert STRATEGIES[name](blank, 100, 10) == []


@pytest.mark.parametrize("name", ["sentence", "paragraph", "recursive"])
def test_accents_and_joined_emoji_stay_whole(name: str):
    family, accented = "👩‍👩‍👧‍👦", "e\u0301\u0323"
    for whole in (family * 30, accented * 100):
        for span in STRATEGIES[name](whole, 20, 5):
            assert whole[span.start] in "👩e"
            assert span.end == len(whole) or whole[span.end] in "👩e"


@pytest.mark.parametrize(
    "whole", ["Ein Satz mit 3.5 Prozent. " * 40_000, "a" * 1_000_000, "ab " * 333_333, "\n" * 1_000_000 + "x"]
)
def test_splitting_takes_linear_time(whole: str):
    # In quadratic time, none of these would end within the time limit of a test.
    for strategy in STRATEGIES.values():
        assert blank_outside(whole, strategy(whole, 1200, 150))
