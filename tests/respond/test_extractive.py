"""The extractive answerer, with the embedded model and real sentences."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence
from dataclasses import replace
from functools import cache
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone import chunk
from ragstone.core.answers import Draft, SentenceClosed, TextWritten, Turn
from ragstone.core.errors import Damaged
from ragstone.core.protocols import PassageReader
from ragstone.core.records import Document, Evidence, Hit, Mark
from ragstone.core.request import Request
from ragstone.index import build_passage_model
from ragstone.index.embed.local import MiniLM
from ragstone.language import phrases
from ragstone.question import read
from ragstone.rank import build_matcher
from ragstone.respond import build_answerer
from ragstone.respond.drafts import drafted
from ragstone.respond.quoting.answerability import FITTED, Features, estimate_for
from ragstone.respond.quoting.extractive import ExtractiveAnswerer
from ragstone.respond.quoting.scored import Told
from ragstone.respond.quoting.scored import read as read_sentences
from ragstone.respond.tables import TableReader
from ragstone.settings import ChunkSettings, RespondSettings

READER = cache(build_passage_model)
ORDINARY = Features(best=0.7, others=0.35, sentences=20, covered=0.9, mistyped=0.0, words=1.6, foreign=0.0)
"""A question whose answer was found."""
MASKS = Document(
    id="masks",
    title="Wearing masks",
    url="https://example.org/masks",
    text=(
        "The museum was founded in 1921. Visitors have worn masks in the museum since March 2020. "
        "Masks are sold at the entrance for two euros. Photography is allowed everywhere but in the cinema."
    ),
)
HOURS = Document(
    id="hours", title="Opening hours", text="The museum opens at ten. On Mondays it is closed. Tickets cost nine euros."
)


@pytest.fixture(scope="module")
def model() -> MiniLM:
    return MiniLM()


def hits(model: MiniLM, *documents: Document, **cut: int) -> tuple[Hit, ...]:
    settings = ChunkSettings(**cut)  # pyright: ignore
    pieces = [piece for document in documents for piece in chunk.split(document, settings, model.tokens)]
    return tuple(Hit(chunk=piece, score=1 - n / 100) for n, piece in enumerate(pieces))


def built(model: MiniLM, reader: Callable[[], PassageReader] = READER, **settings: float) -> ExtractiveAnswerer:
    answerer = build_answerer(
        RespondSettings(**settings),  # pyright: ignore
        matcher=build_matcher(model, lambda words, _request: [float(len(word) > 3) for word in words]),
        sentences=chunk.sentences,
        weigh=lambda words, _request: [1.0] * len(words),
        occurs=lambda words, _request: [True] * len(words),
        embedder=model.fingerprint,
        reader=reader,
    )
    assert isinstance(answerer, ExtractiveAnswerer)
    return answerer


def answer(model: MiniLM, question: str, found: tuple[Hit, ...], **settings: float) -> Draft:
    evidence = Evidence(question=read(question), hits=found, method="test")
    return asyncio.run(drafted(built(model, **settings), evidence, Request.by_owner()))


def test_quotes_the_answering_sentence_exactly(model: MiniLM):
    draft = answer(model, "Where are masks sold?", hits(model, HOURS, MASKS))
    assert not draft.abstained
    assert "Masks are sold at the entrance for two euros." in draft.text
    for citation in draft.citations:
        document = {"masks": MASKS, "hours": HOURS}[citation.document_id]
        assert document.text[citation.start : citation.end] == citation.quote
        assert (citation.title, citation.url) == (document.title, document.url)


def test_numbers_sentences_in_reading_order(model: MiniLM):
    draft = answer(model, "masks in the museum", hits(model, MASKS), abstain_below=0)
    assert [citation.marker for citation in draft.citations] == list(range(1, len(draft.citations) + 1))
    assert all(a.end <= b.start for a, b in pairwise(draft.citations))


def test_quotes_an_item_without_its_bullet(model: MiniLM):
    text = "Much has changed.\n\n• Masks have been worn in the museum since March 2020.\n\nThe café is new."
    (citation,) = answer(
        model, "Since when are masks worn?", hits(model, Document(id="a", text=text)), sentences=1
    ).citations
    assert citation.quote == "Masks have been worn in the museum since March 2020."


def test_limits_the_number_of_sentences(model: MiniLM):
    draft = answer(model, "museum", hits(model, MASKS, HOURS), sentences=1, abstain_below=0)
    assert len(draft.citations) == 1


def test_quotes_overlapping_sentence_once(model: MiniLM):
    found = hits(model, MASKS, size=120, overlap=80)
    assert len(found) > 2
    draft = answer(model, "Where are masks sold?", found, abstain_below=0)
    places = [(citation.start, citation.end) for citation in draft.citations]
    assert len(places) == len(set(places))


def test_quotes_identical_sentences_once(model: MiniLM):
    again = replace(MASKS, id="again", text=MASKS.text.replace("for two euros.", "for two euros, all year round."))
    draft = answer(model, "Where are masks sold?", hits(model, MASKS, again, replace(MASKS, id="third")))
    assert draft.text.count("Masks are sold at the entrance for two euros.") <= 1
    assert len({citation.quote for citation in draft.citations}) == len(draft.citations)


def test_keeps_yes_or_no_with_its_sentence(model: MiniLM):
    title = "Is it safe to visit the museum?"
    found = Document(id="safe", title=title, text="No. The roof may fall on visitors of the museum. Tickets are sold.")
    draft = answer(model, "Can I visit the museum safely?", hits(model, found), abstain_below=0)
    assert draft.citations[0].quote.startswith("No. The roof may fall")


def test_skips_sentence_whose_code_is_missing(model: MiniLM):
    found = Document(id="code", text="Masks are counted by hand at the door. To count masks call this:")
    draft = answer(model, "How do I count masks?", hits(model, found), abstain_below=0)
    assert [one.quote for one in draft.citations] == ["Masks are counted by hand at the door."]


def test_quotes_sentence_with_code_of_next_chunk(model: MiniLM):
    code = "def count(masks):\n    return len(masks)"
    text = f"To count masks call this function:\n\nPython\n\n{code}\n\nMasks are sold at the door."
    found = Document(
        id="code", text=text, marks=(Mark(kind="code", start=text.index("def"), end=text.index(code) + len(code)),)
    )
    chunks = hits(model, found, strategy="structure")
    assert [hit.chunk.facts["is_code"] for hit in chunks] == [False, True, False]
    draft = answer(model, "How do I count masks?", chunks, abstain_below=0)
    assert [one.quote for one in draft.citations][:2] == ["To count masks call this function:", code]
    assert draft.text.startswith(f"To count masks call this function: [1]\n{code}\n[2]")
    alone = answer(model, "How do I count masks?", (chunks[0], chunks[2]), abstain_below=0)
    assert "To count masks" not in alone.text


def test_shows_passage_that_repeats_in_a_longer_one(model: MiniLM):
    said = "Masks are sold at the entrance for two euros."
    longer, short = (
        Document(id="b", text=f"Masks are sold in two sizes. {said} Buy masks there."),
        Document(id="a", text=said),
    )
    draft = answer(model, "Where are masks sold?", hits(model, longer, short), abstain_below=1, closest_from=0)
    assert draft.outcome == "closest"
    assert said in draft.text


def test_shows_no_second_passage_in_the_same_words(model: MiniLM):
    copies = [Document(id=one, text="Masks are sold at the entrance for two euros.") for one in "ab"]
    draft = answer(model, "Where are masks sold?", hits(model, *copies, HOURS), abstain_below=1, closest_from=0)
    assert draft.outcome == "closest"
    assert len({one.quote for one in draft.citations}) == len(draft.citations)


@pytest.mark.parametrize(("first", "is_quoted"), [("`tour start`", True), ("``", False), ("`", False)])
def test_inline_code_may_begin_a_quote(first: str, is_quoted: bool, model: MiniLM):
    text = f"{first} opens the museum to visitors and their dogs.\n\nMasks are sold at the entrance."
    draft = answer(model, "What opens the museum to dogs?", hits(model, Document(id="d", text=text)), abstain_below=0)
    assert draft.text.startswith(first) == is_quoted


def test_skips_sentence_cut_by_chunk_edge(model: MiniLM):
    found = hits(model, MASKS, size=100, overlap=0, strategy="sliding_window")
    draft = answer(model, "museum masks sold entrance", found, abstain_below=0, sentences=9)
    whole = [span.of(MASKS.text) for span in chunk.sentences(MASKS.text)]
    assert any(citation.quote.endswith(sentence) for citation in draft.citations for sentence in whole)
    assert not any(citation.quote[:1].islower() for citation in draft.citations)


def test_refusal_repeats_the_question(model: MiniLM):
    draft = answer(model, "Who wrote the national anthem of Peru?", hits(model, MASKS, HOURS))
    assert draft.abstained
    assert draft.citations == ()
    assert "Who wrote the national anthem of Peru?" in draft.text
    assert "Wearing masks" in draft.text


def test_quotes_no_repetition_of_the_question(model: MiniLM):
    question = "Where are masks with the seal of the museum sold?"
    shown = f"Run `ragstone ask '{question}'` to try the museum. {MASKS.text}"
    draft = answer(model, question, hits(model, replace(MASKS, text=shown)), abstain_below=0)
    assert draft.citations
    assert not any(question.rstrip("?") in citation.quote for citation in draft.citations)


def test_shows_passages_that_may_answer(model: MiniLM):
    draft = answer(model, "Who wrote the national anthem of Peru?", hits(model, MASKS, HOURS), closest_from=0)
    assert (draft.outcome, draft.abstained) == ("closest", True)
    assert draft.text.splitlines()[0] == phrases("en").unmentioned.format(what="Peru")
    assert phrases("en").likely in draft.text
    assert phrases("en").also in draft.text
    assert [one.document_id for one in draft.citations] == ["masks", "hours"]
    sure = answer(model, "Where are masks sold?", hits(model, HOURS, MASKS), closest_from=0)
    assert sure.outcome == "answer"


def test_abstains_without_evidence(model: MiniLM):
    draft = answer(model, "Anything?", ())
    assert draft.abstained
    assert draft.answerability == 0


@pytest.mark.parametrize("embedder", [MiniLM.fingerprint, "e5-small-of-any-version", "acme-7"])
def test_standing_out_raises_the_probability(embedder: str):
    estimate = estimate_for(embedder)
    at = [estimate(replace(ORDINARY, best=score / 10)) for score in range(4, 11)]
    assert at == sorted(at)
    assert 0 < at[0] < at[-1] < 1
    assert estimate(replace(ORDINARY, others=0.6)) < estimate(ORDINARY)


@pytest.mark.parametrize("embedder", FITTED)
@pytest.mark.parametrize("worse", [{"covered": 0.2}, {"mistyped": 1.0}, {"others": 0.6}])
def test_signs_of_a_wrong_answer_lower_the_probability(embedder: str, worse: dict[str, float]):
    estimate = estimate_for(embedder)
    assert estimate(replace(ORDINARY, **worse)) < estimate(ORDINARY)  # pyright: ignore


def test_an_entry_of_a_faq_is_as_similar_as_its_question(model: MiniLM):
    def similarity(title: str) -> float:
        found = hits(model, Document(id="a", title=title, text="Sixty, and twenty more in the barn."))
        evidence = Evidence(question=read("What is the largest number of guests?"), hits=found, method="test")
        matcher = build_matcher(model, lambda words, _request: [1.0] * len(words))
        (one,) = asyncio.run(read_sentences(evidence, matcher, chunk.sentences, Request.by_owner()))
        return one.own

    assert similarity("How many guests fit in at most?") > similarity("How many guests fit in at most") + 0.02


def test_what_the_reader_reads_is_never_certain():
    told = Told(answers=30.0, evidence=30.0, short=30.0)
    assert 0.9 < estimate_for(MiniLM.fingerprint)(replace(ORDINARY, told=told, total=30.0)) < 0.95


@given(st.floats(0, 1), st.floats(0, 1), st.floats(0, 1))
def test_unknown_embedder_refuses_more_often(best: float, others: float, covered: float):
    features = replace(ORDINARY, best=best, others=others, covered=covered)
    assert estimate_for("acme-7")(features) == min(estimate_for(name)(features) for name in FITTED)


def test_a_single_sentence_can_answer(model: MiniLM):
    document = Document(id="one", text="Masks are sold at the entrance for two euros.")
    draft = answer(model, "Where are masks sold?", hits(model, document))
    assert draft.outcome == "answer"


@pytest.mark.parametrize(
    ("question", "is_read"), [("Where are the masks sold?", True), ("Wo bekommt man Schutzmasken?", False)]
)
def test_reads_only_what_it_knows(model: MiniLM, question: str, is_read: bool):
    evidence = Evidence(question=read(question), hits=hits(model, MASKS, HOURS), method="test")
    features = asyncio.run(built(model).features(evidence, Request.by_owner()))
    assert features
    assert (features.told is not None) == is_read
    assert (features.behind != 0) <= is_read


def test_damaged_reader_is_reported(model: MiniLM):
    def damaged() -> PassageReader:
        raise Damaged("passages.bin is damaged")

    evidence = Evidence(question=read("Where are masks sold?"), hits=hits(model, MASKS, HOURS), method="test")
    draft = asyncio.run(drafted(built(model, damaged), evidence, Request.by_owner()))
    assert draft.outcome == "answer"
    assert draft.notices == ("Passages are compared by their words alone: passages.bin is damaged",)


def test_reader_lowers_what_does_not_answer(model: MiniLM):
    told = Told(answers=3.0, evidence=1.0, short=2.0)
    estimate = estimate_for(model.fingerprint)
    sure = estimate(replace(ORDINARY, odds=1.0, total=1.0, told=told))
    assert estimate(replace(ORDINARY, odds=1.0, total=1.0, told=replace(told, answers=-3.0))) < sure
    assert estimate(replace(ORDINARY, odds=1.0, total=0.2, told=told)) < sure


def test_counts_words_that_no_document_has(model: MiniLM):
    def known(words: Sequence[str], _request: Request) -> list[bool]:
        return [word == "masks" for word in words]

    def weigh(words: Sequence[str], _request: Request) -> list[float]:
        return [1.0] * len(words)

    answerer = ExtractiveAnswerer(
        RespondSettings(),
        matcher=build_matcher(model, weigh),
        sentences=chunk.sentences,
        tables=TableReader(occurs=known, weigh=weigh),
        occurs=known,
        weigh=weigh,
        estimate=estimate_for(model.fingerprint),
        abstain_below=0.5,
    )
    evidence = Evidence(question=read("Wo gibt es masks?"), hits=hits(model, MASKS), method="test")
    features = asyncio.run(answerer.features(evidence, request=Request.by_owner()))
    assert features is not None
    assert features.foreign == 0.5  # one word in four
    assert (
        asyncio.run(
            answerer.features(Evidence(question=read("Where?"), hits=(), method="test"), request=Request.by_owner())
        )
        is None
    )


def test_does_not_quote_a_question_as_answer(model: MiniLM):
    text = "What is the museum about? The museum is about the history of coffee."
    draft = answer(model, "What is the museum about?", hits(model, Document(id="d", text=text)))
    assert draft.text == "The museum is about the history of coffee. [1]"


def test_drops_footnote_marks(model: MiniLM):
    text = "[5] The museum is about the history of coffee."
    draft = answer(model, "What is the museum about?", hits(model, Document(id="d", text=text)))
    assert draft.text == "The museum is about the history of coffee. [1]"
    assert text[draft.citations[0].start : draft.citations[0].end] == draft.citations[0].quote


TABLE = Document(
    id="income",
    title="Museum income",
    text=" | 2022 | 2023\nTickets | 310 | 420\nShop | 25 | 31\nDonations | 12 | 9",
    marks=(Mark(kind="table", start=0, end=68, header=1, label="Income (in thousands)"),),
)


def test_answers_from_a_table(model: MiniLM):
    found = hits(model, TABLE, MASKS)
    draft = answer(model, "How much was the museum's income from tickets in 2023?", found)
    assert draft.text == "Tickets · 2023 · in thousands: 420 [1]"
    assert TABLE.text[draft.citations[0].start : draft.citations[0].end] == "420"
    assert "Masks are sold at the entrance" in answer(model, "Where are masks sold?", found).text


def test_quotes_the_text_across_a_form(model: MiniLM):
    line = "The car of Gabriel Diaz was examined by Ellis Turner in the garage."
    text = f"{line}\nParts | 2,100\nLabour | 630"
    form = Document(id="form", title="Estimate", text=text, marks=(Mark(kind="table", start=0, end=len(text)),))
    draft = answer(model, "Who examined the car of Gabriel Diaz?", hits(model, form))
    assert not draft.abstained
    assert [one.quote for one in draft.citations] == [line]


def test_shows_a_row_that_may_answer(model: MiniLM):
    question = "What did the shop of the castle in Vilnius lose to thieves?"
    draft = answer(model, question, hits(model, TABLE), closest_from=0.01)
    assert draft.outcome == "closest"
    assert "Shop · " in draft.text
    refusal = answer(model, question, hits(model, TABLE), closest_from=1)
    assert refusal.outcome == "refusal"
    assert "Shop | 25 | 31" in refusal.text


def test_a_row_comes_before_sentences_that_are_less_likely(model: MiniLM):
    question = "What did the shop of the museum earn in 2023, roughly?"
    found = hits(model, TABLE, HOURS)
    draft = answer(model, question, found, abstain_below=1)
    assert draft.outcome == "closest"
    assert "mention" not in draft.text
    assert draft.citations[0].document_id == "income"


@pytest.mark.parametrize("shown", ["![The museum](museum.png)", "<!-- the museum -->", "[The museum](/museum)"])
def test_quotes_no_text_without_words_of_its_own(model: MiniLM, shown: str):
    found = hits(model, replace(MASKS, text=f"{shown}\n\n{MASKS.text}"))
    draft = answer(model, "What is the museum?", found, abstain_below=0)
    assert draft.citations
    assert not any(shown in citation.quote for citation in draft.citations)


def test_captions_and_sources_are_no_answers(model: MiniLM):
    text = (
        "Table 6.11: The 20 largest grocery wholesalers of the country\n\n"
        "Source: Institute of Wholesale, The largest grocery wholesalers\n\n"
        "The company with the highest sales is Kruse, a wholesaler of groceries in Kiel."
    )
    draft = answer(model, "Which is the largest grocery wholesaler?", hits(model, Document(id="w", text=text), HOURS))
    assert [text[one.start : one.end].split()[0] for one in draft.citations] == ["The"]


class _Drafting(ExtractiveAnswerer):
    """Writes one draft, and knows when it may stop."""

    def __init__(self) -> None:
        self.is_closed = False

    async def stream(
        self, evidence: Evidence, request: Request, before: Sequence[Turn] = ()
    ) -> AsyncGenerator[TextWritten | SentenceClosed | Draft]:
        del evidence, request, before
        try:
            yield Draft(text="Yes.", citations=(), answerability=1.0)
        finally:
            self.is_closed = True


def test_a_finished_draft_ends_the_work() -> None:
    answerer, evidence = _Drafting(), Evidence(question=read("Is it?"), hits=(), method="test")

    async def closed() -> bool:
        await drafted(answerer, evidence, Request.by_owner())
        return answerer.is_closed

    assert asyncio.run(closed())
