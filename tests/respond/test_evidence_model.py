"""The features by which sentences to quote are chosen."""

from collections.abc import Sequence

from ragstone import chunk
from ragstone.core.records import Chunk, Document, Hit
from ragstone.core.request import Request
from ragstone.question import read
from ragstone.respond.quoting.evidence_model import SentenceFeatures, features_of
from ragstone.respond.quoting.scored import Sentence
from ragstone.settings import ChunkSettings

QUESTION = read("Who repairs the lighthouse lamp?")
BEST = (0.9, 0.4, 0.2)


def _chunk(number: int, count: int) -> Chunk:
    text = " ".join(f"Sentence {one} of page {number} says something." for one in range(count))
    (piece,) = chunk.split(Document(id=f"page-{number}", title="", text=text), ChunkSettings(), lambda _: [])
    return piece


def _sentences(similarities: Sequence[Sequence[float]]) -> list[Sentence]:
    """Return sentences with these similarities to the question, chunk after chunk."""
    out = list[Sentence]()
    for place, of_chunk in enumerate(similarities):
        hit = Hit(chunk=_chunk(place, len(of_chunk)), score=1.0)
        spans = chunk.sentences(hit.chunk.text)
        out += [
            Sentence(hit=hit, place=place, number=number, span=span, own=own)
            for number, (span, own) in enumerate(zip(spans, of_chunk, strict=True))
        ]
    return out


def _features(*similarities: Sequence[float]) -> list[SentenceFeatures]:
    def weigh(words: Sequence[str], request: Request) -> list[float]:
        del request
        return [1.0] * len(words)

    return features_of(QUESTION, _sentences(similarities), weigh, Request.by_owner())


def test_last_chunks_do_not_change_the_others() -> None:
    known = _features(BEST, (0.3, 0.1), (0.2,), (0.1,) * 20)
    other = _features(BEST, (0.3, 0.1), (0.2,), (0.5, 0.6), (0.3,))
    assert known[:6] == other[:6]


def test_the_chunks_that_count_are_the_best() -> None:
    assert _features(BEST, (0.3, 0.1), (0.2,))[:3] != _features(BEST, (0.3, 0.1), (0.6,))[:3]


def test_equal_best_chunks_leave_similarities_bounded() -> None:
    *_, last = _features((0.3,), (0.3,), (0.3,), (0.9,), (0.1,))
    assert abs(last.similar) < 3


def test_a_sentence_has_the_words_of_the_heading_above_it() -> None:
    text = "## Repairs of the lighthouse lamp\n\nAnna Berg.\n\n## Flags\n\nOle Dahl."
    (piece,) = chunk.split(Document(id="a", title="", text=text), ChunkSettings(), lambda _: [])
    hit = Hit(chunk=piece, score=1.0)
    spans = [span for span in chunk.sentences(text) if span.of(text) in ("Anna Berg.", "Ole Dahl.")]
    sentences = [Sentence(hit=hit, place=0, number=n, span=span, own=0.5) for n, span in enumerate(spans)]
    first, second = features_of(QUESTION, sentences, lambda words, _: [1.0] * len(words), Request.by_owner())
    assert first.covered_titled > 0.5
    assert second.covered_titled == 0.0
