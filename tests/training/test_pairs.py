"""Pairs as tokens: what is to be learned stands where it stood in the text."""

from training.pairs import LONGEST, Pair, tokenized

PASSAGE = "Vilnius is old. It was founded in 1323 by Gediminas. Today it has parks."


def test_the_targets_of_a_question_are_at_the_tokens_of_their_characters() -> None:
    at = PASSAGE.index("Gediminas")
    sentences = ((0, 15), (16, 53), (54, len(PASSAGE)))
    pair = Pair(
        first="Who founded Vilnius?",
        second=PASSAGE,
        source="own",
        answers=1.0,
        evidence=((16, 53),),
        sentences=sentences,
        answer=(at, at + len("Gediminas")),
    )
    [tokens] = tokenized([pair])
    assert tokens.evidence is not None
    assert tokens.evidence.tolist() == [0, 1, 0]
    assert tokens.answer is not None
    first, last = tokens.answer
    assert tokens.sentences[1][0] < first <= last < tokens.sentences[1][1]
    assert tokens.sentences[0][0] == tokens.second


def test_the_targets_of_a_claim_are_at_its_words() -> None:
    claim = "Vilnius was founded in 1323 by the Romans."
    start = claim.index("the Romans")
    pair = Pair(first=claim, second=PASSAGE, source="own", label="unknown", unsupported=((start, start + 10),))
    [tokens] = tokenized([pair])
    assert tokens.unsupported is not None
    assert tokens.unsupported.sum() == 2  # "the" and "romans"
    assert tokens.unsupported[-1] == 0  # the full stop


def test_a_long_passage_is_cut_around_its_evidence() -> None:
    filler = "There is nothing to be said about this street. " * 60
    text = f"{filler}{PASSAGE}"
    span = (len(filler) + 16, len(filler) + 53)
    pair = Pair(first="Who?", second=text, source="own", answers=1.0, evidence=(span,), sentences=(span,))
    [tokens] = tokenized([pair])
    assert len(tokens.ids) == LONGEST
    assert tokens.evidence is not None
    assert tokens.evidence.tolist() == [1]
