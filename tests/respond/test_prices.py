"""Questions for a price, and the sentences that can answer them."""

import pytest

from ragstone.question import read
from ragstone.respond.requirements.prices import says_price


@pytest.mark.parametrize(
    "question",
    [
        "What does the book cost?",
        "how much is a ticket worth",
        "How much money did they pay for it?",
        "What is the monthly fee?",
        "What salary does the director receive?",
        "What rent does the landlord ask for?",
        "At what price is it sold?",
        "Was kostet der Eintritt?",
        "Wie hoch ist die Gebühr?",
    ],
)
def test_recognises_questions_for_a_price(question: str):
    assert read(question).asks.price


@pytest.mark.parametrize(
    "question",
    [
        "What does the cost of revenue consist of?",
        "Why did the price rise?",
        "How is the fee calculated?",
        "How much memory does it need?",
        "Who pays for it?",
        "",
    ],
)
def test_other_questions_ask_for_no_price(question: str):
    assert not read(question).asks.price


@pytest.mark.parametrize(
    "quote",
    [
        "It is $5.",
        "Two euros.",
        "RM 20 each",
        "It costs 36.75.",
        "It cost 5 million this year.",
        "Nine thousand crowns.",
        "20 zlotys",
        "Free of charge.",
    ],
)
def test_recognises_prices(quote: str):
    assert says_price(["Tickets are sold at the door.", quote])


@pytest.mark.parametrize(
    "quote",
    [
        "The book has 137 pages.",
        "Sold for 51.0 percent.",
        "It remarks on freedom.",
        "It has 600 million users.",
        "For 27 million AOK members.",
    ],
)
def test_other_numbers_are_no_prices(quote: str):
    assert not says_price([quote])
