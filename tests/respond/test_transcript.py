"""A reply taken apart as it comes in."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone import chunk
from ragstone.core.records import Span
from ragstone.respond.writing.marks import Marks
from ragstone.respond.writing.transcript import MAX_CODE, Sentence, Transcript


def read(*pieces: str) -> tuple[str, list[Sentence]]:
    transcript = Transcript(chunk.sentences, Marks(["one"] * 9))
    shown, closed = "", []
    for piece in pieces:
        shown += transcript.add(piece)
        closed += transcript.closed()
    shown += transcript.end()
    return shown, [*closed, *transcript.closed(everything=True)]


def test_keeps_markers_as_claims_of_their_sentence():
    shown, closed = read("It opens at ten [1]. It is closed on Mondays.[2, 3] Tickets cost nine euros [Source 4].")
    assert shown == "It opens at ten. It is closed on Mondays. Tickets cost nine euros."
    assert [(one.text, one.claimed) for one in closed] == [
        ("It opens at ten.", (1,)),
        ("It is closed on Mondays.", (2, 3)),
        ("Tickets cost nine euros.", (4,)),
    ]


TITLES, FILES = ("Rules of the house", "Prices, wages and pay", "rota"), ("rules.docx", "pay_2026.pdf", "rota_may.xlsx")


def marked(text: str, size: int, said: str = "") -> tuple[str, list[tuple[int, ...]]]:
    marks = Marks(TITLES, files=FILES, is_said=lambda form: form in said)
    transcript, shown = Transcript(chunk.sentences, marks), ""
    for start in range(0, len(text), size):
        shown += transcript.add(text[start : start + size])
    shown += transcript.end()
    return shown, [one.claimed for one in transcript.closed(everything=True)]


@pytest.mark.parametrize("size", [1, 2, 3, 7, 100])
@pytest.mark.parametrize(
    "mark",
    [
        *("[2]", "(Source: 2)", "Source [2]", "[Source 2, p. 3]", "(see source 2)", "[2†L3-L5]", "Quelle 2", "[doc 2]"),
        *("(Quelle 2, S. 3)", "{2}", "<sup>2</sup>", "(2)", "^[2]^", "[2, page 3-4]", "[Source 2 - Prices]"),
        *("[source: pay_2026.pdf]", "(Source: pay 2026, section Overtime)", "(see source [Prices, wages and pay])"),
        *("[Source: Prices, wages and pay, p. 4]", "[Source 2: Prices, wages and pay; part 4]", "(bron 2)"),
    ],
)
def test_reads_a_mark_in_any_form(mark: str, size: int):
    assert marked(f"It costs nine euros {mark}.", size) == ("It costs nine euros.", [(2,)])


@pytest.mark.parametrize("size", [1, 3, 100])
@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("According to source 2, it costs nine.", "According to “Prices, wages and pay”, it costs nine."),
        ("It costs nine, siehe Quelle 2.", "It costs nine, siehe “Prices, wages and pay”."),
        ("Connect source 2 to the valve.", "Connect source 2 to the valve."),
        ("It is fed by source 2.", "It is fed by source 2."),
        ("It costs nine.\n\n### Sources\n\n1. Prices", "It costs nine.\n\n### Sources\n\n1. Prices"),
        ("Under section 5 (2) it costs nine.", "Under section 5 (2) it costs nine."),
        ("Use (safe mode) and [Reference: AB-12].", "Use (safe mode) and [Reference: AB-12]."),
        ("It costs nine [Source: a letter].", "It costs nine."),
        ("On Thu 10.9. [1].", "On Thu 10.9."),
        ("It opens at ten. [^1]\n\n[^1]: Rules of the house", "It opens at ten.\n\nRules of the house"),
        (
            "It isn&#39;t open &ndash; &quot;closed&quot; &lt;b&gt; `&amp;`",
            'It isn\'t open – "closed" &lt;b&gt; `&amp;`',
        ),
    ],
)
def test_shows_what_is_no_mark(text: str, shown: str, size: int):
    said = "section 5 (2)" if "section" in text else "fed by source 2" if "fed" in text else ""
    assert marked(text, size, said=said)[0] == shown


def test_words_that_name_a_source_are_no_claim():
    _, (one,) = read("It opens at ten (Source: the letter of May).")
    assert one.stated == "It opens at ten."


@pytest.mark.parametrize(
    "planted",
    ["![](https://evil.example/x.png?q=1)", "![pixel](https://evil.example)", "[click](https://evil.example/a?b=c)"],
)
def test_replaces_pictures_and_links_by_words(planted: str):
    shown, _ = read(*f"It opens {planted} at ten.")
    assert "evil" not in shown
    assert "](" not in shown


def test_code_block_is_one_sentence():
    code = '```python\nprint("One. Two.")\nprint("Three.")\n```'
    _, closed = read(*f"Write this:\n\n{code}\n\nThen run it.")
    assert [one.text for one in closed] == ["Write this:", code, "Then run it."]


def test_closes_a_sentence_when_the_next_begins():
    transcript = Transcript(chunk.sentences, Marks(["one"] * 9))
    transcript.add("It opens at ten. It is")
    assert [one.text for one in transcript.closed()] == ["It opens at ten."]
    transcript.add(" closed on Mondays.")
    assert transcript.closed() == []
    transcript.end()
    assert [one.text for one in transcript.closed(everything=True)] == ["It is closed on Mondays."]


@pytest.mark.parametrize("size", [1, 2, 3, 5, 8, 13, 50])
def test_waits_for_what_shows_that_a_sentence_goes_on(size: int):
    text = "The order (No. HC-2026-114) is for 24 bikes. Call Ewan (Ext. 118. Not 119) or see Sec. 4. It opens at ten."
    _, closed = read(*(text[start : start + size] for start in range(0, len(text), size)))
    assert [one.text for one in closed] == [
        "The order (No. HC-2026-114) is for 24 bikes.",
        "Call Ewan (Ext. 118. Not 119) or see Sec. 4.",
        "It opens at ten.",
    ]


REPLY = st.lists(
    st.sampled_from(
        [
            "It opens at ten",
            ". ",
            " [1]",
            "[Source 2]",
            "\n\n",
            "![a](b)",
            "[",
            "]",
            "(",
            "! ",
            "```",
            "\n",
            "Dr. No",
            "x",
        ]
    )
).map("".join)


@given(reply=REPLY, size=st.integers(1, 9))
def test_pieces_do_not_change_the_sentences(reply: str, size: int):
    shown, closed = read(*(reply[start : start + size] for start in range(0, len(reply), size)))
    assert "".join(one.before + one.text for one in closed).strip() == shown.strip()
    assert "![a](b)" not in shown


@pytest.mark.parametrize("size", [1, 3, 7, 10_000])
@pytest.mark.parametrize(
    "planted",
    [
        "[![alt](https://evil.example/a)](https://evil.example/b)",
        "[a[1]](https://evil.example)",
        "[a [b] c](https://evil.example)",
        "[a\\]b](https://evil.example)",
        "[a\nb](https://evil.example)",
        "![a](\nhttps://evil.example)",
        "[[1]](https://evil.example)",
        f"![{'a' * 400}](https://evil.example)",
        f"![a](https://evil.example/{'a' * 3000})",
        "![a][x] and so on.\n\n[x]: https://evil.example",
        '<img src="https://evil.example/x.png">',
        "<IMG SRC=x onerror=alert(1)>",
        f'<img alt="{"a" * 3000}" src=x>',
        '<a href="https://evil.example">x</a>',
        "<img src=https://evil.example",
        "<https://evil.example>",
        "```\n![a](https://evil.example)\n[x]: https://evil.example\n<img src=x>",
        "``` a ` b\n![a](https://evil.example)",
        "`a` ![a](https://evil.example) `b`",
        "`![a](https://evil.example)",
    ],
)
def test_planted_text_never_becomes_a_link(planted: str, size: int):
    text = f"It opens {planted} at ten."
    shown, closed = read(*(text[start : start + size] for start in range(0, len(text), size)))
    for told in (shown, "".join(one.before + one.text for one in closed)):
        assert "](" not in told
        assert "]:" not in told
        assert not re.search(r"<(/?(img|a)\b|https)", told, re.IGNORECASE)


def test_keeps_bracketed_numbers_in_code():
    code = "```python\nh(qubits[0])\nx.ctrl(qubits[0], qubits[1])\n```"
    shown, closed = read(*f"Use `qubits[2]` as here [1]:\n\n{code}\n\nThat is all [2].")
    assert code in shown
    assert [(one.text, one.claimed) for one in closed] == [
        ("Use `qubits[2]` as here:", (1,)),
        (code, ()),
        ("That is all.", (2,)),
    ]


@pytest.mark.parametrize("unit", ["word ", "[1]", "[1] [2] x ", " ", "\r\n", "é\u0301", "\ud800", "```\n", "[", "<a "])
def test_closes_endless_sentences(unit: str):
    transcript = Transcript(chunk.sentences, Marks(["one"] * 9))
    longest = 0
    for _ in range(1_000):
        transcript.add(unit * 10)
        transcript.closed()
        longest = max(longest, len(transcript._open), len(transcript._raw), len(transcript._claims))
    transcript.end()
    transcript.closed(everything=True)
    assert longest < 2 * MAX_CODE + 100


@pytest.mark.parametrize("unit", ["x = 1.\n", "x[0] = 'a b. C'\n"])
def test_splits_endless_code(unit: str):
    _, closed = read("Do this:\n\n```\n", *[unit] * 10_000)
    assert all(len(one.text) <= 2 * MAX_CODE for one in closed)
    assert "".join(one.text for one in closed).count(unit.strip()) == 10_000


def test_cost_is_linear_in_length():
    looked_at = 0

    def sentences(text: str) -> list[Span]:
        nonlocal looked_at
        looked_at += len(text)
        return chunk.sentences(text)

    transcript, size = Transcript(sentences, Marks(["one"] * 9)), 200_000
    for start in range(0, size, 4):
        transcript.add("no sentence ends here "[start % 20 : start % 20 + 4])
        transcript.closed()
    assert looked_at < 4 * size
