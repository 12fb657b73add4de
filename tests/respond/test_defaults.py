"""Questions for a default, the sentences that say one, and quotes that are extended to it."""

import pytest

from ragstone.core.records import Chunk, Hit, Span
from ragstone.question import read
from ragstone.respond.quoting.defaults import says_default, with_default
from ragstone.respond.quoting.passages import Likely
from ragstone.respond.quoting.quotes import Quote

PORT = "Which port does it listen on by default?"
MANUAL = (
    "listen_address\n\nAddresses to listen on.\n\nDefault: not set\n\nlisten_port\n\nWhich port to listen on.\n"
    "Applies to all sockets.\n\nDefault: 6432\n\nlisten_folder\n\nWhere sockets are.\n\nlisten_mode\n\nDefault: 0777"
)


@pytest.mark.parametrize("question", [PORT, "What is the default of wait?", "Wie lautet die Voreinstellung für wait?"])
def test_recognises_questions_for_a_default(question: str):
    assert read(question).asks.default_value


@pytest.mark.parametrize("question", ["Is it on by default?", "Which port is used?", "Who will defaulting hurt?", ""])
def test_other_questions_ask_for_no_default(question: str):
    assert not read(question).asks.default_value


@pytest.mark.parametrize(
    "quote",
    [
        "Default: 6432",
        "It waits. The default value is three connections.",
        "A value of zero means no limit and is the default.",
        "The TCP port; 5432 by default.",
        "It defaults to the user's name.",
        "Der Standardwert ist leer.",
        "It is logged by default.",
    ],
)
def test_recognises_a_stated_default(quote: str):
    assert says_default(quote)


@pytest.mark.parametrize(
    "quote", ["Some drivers need more time than the default value of MAXAGE allows. Try 30.", "Which port to use.", ""]
)
def test_a_mention_states_no_default(quote: str):
    assert not says_default(quote)


def quoted(words: str) -> list[Likely]:
    chunk = Chunk(id="c", document_id="d", index=0, total=1, start=0, end=len(MANUAL), text=MANUAL)
    start = MANUAL.index(words)
    quote = Quote(hit=Hit(chunk=chunk, score=1.0), place=0, span=Span(start=start, end=start + len(words)))
    return [Likely(quote=quote, probability=0.8, refers=False)]


def test_quotes_go_on_to_the_default_of_the_setting():
    (extended,) = with_default(read(PORT), quoted("Which port to listen on."))
    assert extended.quote.text == "Which port to listen on.\nApplies to all sockets.\n\nDefault: 6432"


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ("Where are sockets by default?", "Where sockets are."),  # the next setting has another default
        ("Which port does it listen on?", "Which port to listen on."),
        (PORT, "Default: 6432"),
    ],
)
def test_other_quotes_stay(question: str, words: str):
    given = quoted(words)
    assert with_default(read(question), given) == given
    assert with_default(read(PORT), []) == []
