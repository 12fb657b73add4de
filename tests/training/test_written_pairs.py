"""Questions that were written for training, and the pairs that are made of them."""

from benchmarks.written import WrittenQuestion, written
from ragstone.core.records import Chunk
from training.pairs import Pair
from training.questions import renamed
from training.written import CONTRAST, READ, READ_OF_CONTRAST, pairs_of

TEXT = "Staff park behind\nthe mill. Visitors park at the lock, for 2 euros a day."


def chunk(number: int, text: str) -> Chunk:
    return Chunk(
        id=f"parking.md/{number}", document_id="parking.md", index=number, total=9, start=0, end=len(text), text=text,
        context="Parking",
    )  # fmt: skip


def test_every_quote_stands_in_its_document() -> None:
    documents = list(written())
    assert {one.use for one in documents} == {"train", "valid", "test"}
    assert len({(one.domain, one.name) for one in documents}) == len(documents)
    for document in documents:
        for question in document.questions:
            assert all(quote in document.text for quote in question.quotes), question
            assert not question.short or any(question.short in quote for quote in question.quotes), question


def test_pair_marks_the_sentence_that_answers_without_its_marks_of_emphasis() -> None:
    question = WrittenQuestion(text="car of the staff?", quotes=("Staff park **behind the mill**.",), short="the mill")
    others = [chunk(number, f"The bus leaves at {number}.") for number in range(1, READ + 3)]
    right, *wrong = pairs_of(question, [chunk(0, TEXT), *others], "train")
    assert [right["passage"][slice(*span)] for span in right["evidence"]] == ["Staff park behind\nthe mill."]
    assert right["passage"][slice(*right["answer"])] == "the mill"
    assert right["answers"]
    assert len(wrong) == READ - 1
    assert not any(one["answers"] or one["evidence"] for one in wrong)


def test_contrast_question_has_fewer_pairs_without_an_answer() -> None:
    question = WrittenQuestion(text="parking in dollars?", quotes=(), short="", contrasts=True)
    pairs = list(
        pairs_of(question, [chunk(number, f"The bus leaves at {number}.") for number in range(READ + 2)], "train")
    )
    assert len(pairs) == READ_OF_CONTRAST < READ
    assert {pair["source"] for pair in pairs} == {CONTRAST}


def test_question_is_asked_of_a_name_that_its_passage_lacks() -> None:
    pairs = [
        Pair(
            first=f"when was the church in {place} built?",
            second=f"The church in {place} was built in {year}.",
            source="made",
            answers=1.0,
            evidence=((0, 10),),
            answer=(0, 4),
        )
        for place, year in zip(("Vilnius", "Kaunas", "Trakai", "Telsiai") * 20, range(1800, 1880), strict=True)
    ]
    changed = renamed(pairs)
    assert changed
    for one in changed:
        place = one.first.split()[5]
        assert place not in one.second
        assert (one.answers, one.evidence, one.answer) == (0.0, (), None)
