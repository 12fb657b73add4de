"""Small examples of each strategy."""

import pytest

from ragstone.chunk.text import by_paragraph, by_sentence, recursive, sliding_window


def cut(strategy, whole: str, size: int, overlap: int) -> list[str]:
    return [span.of(whole) for span in strategy(whole, size, overlap)]


@pytest.mark.parametrize(
    ("whole", "size", "overlap", "expected"),
    [
        ("abcdefghij", 4, 1, ["abcd", "defg", "ghij"]),
        ("abcdefghijk", 4, 1, ["abcd", "defg", "ghij", "jk"]),
        ("abc", 4, 1, ["abc"]),
        ("abcdefg", 4, 3, ["abcd", "bcde", "cdef", "defg"]),
        ("ab      cd", 2, 0, ["ab", "cd"]),
    ],
)
def test_slides_a_window(whole: str, size: int, overlap: int, expected: list[str]):
    assert cut(sliding_window, whole, size, overlap) == expected


def test_packs_whole_sentences():
    whole = "One is here.  Two is here. Three is here. Four."
    assert cut(by_sentence, whole, 28, 0) == ["One is here.  Two is here.", "Three is here. Four."]


def test_tail_begins_at_word_within_overlap():
    whole = "Alpha beta gamma delta. Next sentence goes on."
    assert cut(by_sentence, whole, 40, 13) == ["Alpha beta gamma delta.", "gamma delta. Next sentence goes on."]
    assert cut(by_sentence, whole, 40, 11) == ["Alpha beta gamma delta.", "delta. Next sentence goes on."]


def test_tail_shrinks_for_the_next_unit():
    whole = "Alpha beta gamma delta. Next sentence goes on."
    assert cut(by_sentence, whole, 30, 13) == ["Alpha beta gamma delta.", "delta. Next sentence goes on."]
    assert cut(by_sentence, whole, 28, 13) == ["Alpha beta gamma delta.", "Next sentence goes on."]


def test_chinese_tails_begin_at_any_character():
    assert cut(by_sentence, "今天很好。明天下雨。", 8, 3) == ["今天很好。", "很好。明天下雨。"]


def test_splits_long_paragraph_into_finer_units():
    whole = "Short one.\n\nFirst sentence. Second one is long.\n\n" + "x" * 25
    assert cut(by_paragraph, whole, 20, 0) == [
        "Short one.", "First sentence.", "Second one is long.", "x" * 20, "x" * 5,
    ]  # fmt: skip


def test_recursive_prefers_the_coarsest_boundary():
    whole = "Title\n\nFirst paragraph, short.\n\nSecond paragraph. It has two sentences."
    assert cut(recursive, whole, 34, 0) == [
        "Title\n\nFirst paragraph, short.", "Second paragraph.", "It has two sentences.",
    ]  # fmt: skip
    assert cut(recursive, whole, 100, 0) == [whole]


def test_recursive_repeats_whole_pieces():
    whole = "One two. Three four. Five six. Seven."
    assert cut(recursive, whole, 22, 12) == ["One two. Three four.", "Three four. Five six.", "Five six. Seven."]
