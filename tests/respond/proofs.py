"""Passages, and sentences about them as language models write them: true ones, and false twins."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from functools import cache

from ragstone import chunk
from ragstone.core.records import Chunk, Hit
from ragstone.core.request import Request
from ragstone.index import build_claim_model
from ragstone.respond.proof.checker import ProofChecker
from ragstone.respond.proof.records import Proof
from ragstone.respond.proof.said import NOTHING

LEAVE = """# Leave
Full-time staff receive 28 days of paid leave a year. In the first six months of employment, leave is earned at \
two days a month. Up to five unused days may be carried over until 31 March. Requests are made in Tempo at least two \
weeks ahead and are approved by the line manager. Leave is not paid out in cash, except when the contract ends.
Can leave be taken in hours? Half days are possible; single hours are not.
Parental leave lasts 18 months at most. Maria Okafor of People Services answers questions."""
REPORT = """Consolidated statement of Halden Group (in millions of euros)

| | 2023 | 2022 |
|---|---|---|
| Revenue | 39,669 | 36,120 |
| Cost of sales | 21,400 | 20,250 |
| Net income | 3,104 | 2,876 |
| Employees | 51,200 | 48,900 |

Revenue grew in all three segments: Rail, Ports and Energy. The board proposes a dividend of 1.20 euros per \
share, to be paid on 12 May 2024. Halden sold its Norwegian ferries to Siemens in the second quarter of 2023 for 410 \
million euros."""
PUMP = """The pump delivers 12 litres per minute at a pressure of 3 bar. It must not run dry for more than 30 seconds. \
The filter is cleaned every 500 hours of operation and replaced after 2,000 hours. Ambient temperature: 5 to 40 °C. \
The United Nations number of the coolant is UN 1170. Stop the motor before you open the housing."""
PASSAGES = (LEAVE, REPORT, PUMP)


def hits(*texts: str) -> list[Hit]:
    """Return passages as hits, in order."""
    return [
        Hit(
            chunk=Chunk(
                id=f"c{n}", document_id=f"d{n}", index=0, total=1, start=0, end=len(text), text=text, title=f"File {n}"
            ),
            score=1.0,
        )
        for n, text in enumerate(texts, start=1)
    ]


def even(words: Sequence[str], _request: Request) -> list[float]:
    """Weigh all words the same."""
    return [1.0] * len(words)


@cache
def checker(*, trained: bool = False) -> ProofChecker:
    """Return the checker, with the packaged model or without."""
    return ProofChecker(sentences=chunk.sentences, weigh=even, entailment=build_claim_model(1) if trained else None)


def proof(
    sentence: str, *, before: str = "", first: str = "", trained: bool = False, texts: Sequence[str] = PASSAGES
) -> Proof:
    """Return the proof of a sentence by passages, of which the writer names the one that is ``first``."""
    ordered = sorted(texts, key=lambda text: text != first)
    found = checker(trained=trained).check(
        sentence, hits(*ordered), Request.by_owner(), NOTHING.and_then(before), int(bool(first))
    )
    return asyncio.run(found)


TRUE = [
    (LEAVE, "Full-time employees get 28 days off with pay every year."),
    (LEAVE, "You may take up to 5 leftover days into the next year, but only until the end of March."),
    (LEAVE, "During your first half year, you earn two days per month, so twelve days in total after six months."),
    (LEAVE, "Ask at least 14 days in advance."),
    (LEAVE, "Parental leave can last up to a year and a half."),
    (LEAVE, "You cannot take single hours, but half days are fine."),
    (LEAVE, "Unused leave isn't paid out unless your contract ends."),
    (LEAVE, "Three conditions apply here."),
    (LEAVE, "**Carry-over:** at most five days, until 31.03."),
    (REPORT, "Halden's revenue was about €39.7 billion in 2023."),
    (REPORT, "Revenue came to roughly 40 billion euros."),
    (REPORT, "Revenue rose by €3,549 million compared with 2022."),
    (REPORT, "Revenue rose by about 9.8 percent."),
    (REPORT, "Net income reached 3.1 billion euros, up from 2.88 billion."),
    (REPORT, "The gross margin was €18,269 million, the difference between revenue and cost of sales."),
    (REPORT, "The dividend of €1.20 per share will be paid on May 12, 2024."),
    (REPORT, "The ferries went to Siemens in Q2 2023."),
    (REPORT, "Halden employed 51,200 people, 2,300 more than a year earlier."),
    (REPORT, "The sale brought in €410m."),
    (REPORT, "Net income was around 8% of revenue."),
    (PUMP, "It pumps twelve liters a minute at 3 bar."),
    (PUMP, "Never let it run dry for longer than half a minute."),
    (PUMP, "Replace the filter every 2000 hours and clean it four times as often, every 500 hours."),
    (PUMP, "It works at temperatures between 5 and 40 °C."),
    (PUMP, "The coolant has the UN number 1170."),
    (PUMP, "Step 2: switch the motor off before opening the housing."),
]
FALSE = [
    (LEAVE, "Full-time employees get 30 days off with pay every year.", "30 days"),
    (LEAVE, "You may take up to 5 leftover days into the next year, until 30 June.", "30 June"),
    (LEAVE, "Ask at least three weeks in advance.", "three weeks"),
    (LEAVE, "Parental leave can last up to 18 weeks.", "18 weeks"),
    (LEAVE, "Leave is paid out in cash at the end of March 2019.", "2019"),
    (LEAVE, "Requests go to Jonas Petersen for approval.", "Jonas"),
    (REPORT, "Halden's revenue was about €41.2 billion in 2023.", "€41.2 billion"),
    (REPORT, "Revenue came to 39.7 million euros.", "39.7 million euros"),
    (REPORT, "Revenue rose by 12.5 percent.", "12.5 percent"),
    (REPORT, "The dividend will be paid on 14 May 2024.", "14"),
    (REPORT, "The ferries went to Alstom in Q2 2023.", "Alstom"),
    (REPORT, "The ferries went to Siemens in Q3 2023.", "Q3"),
    (REPORT, "The sale brought in $410m.", "$410m"),
    (REPORT, "Revenue in 2022 was 39,669 million euros.", "39,669"),
    (PUMP, "It pumps 21 litres a minute at 3 bar.", "21 litres"),
    (PUMP, "Never let it run dry for longer than 30 minutes.", "30 minutes"),
    (PUMP, "It works at temperatures between 5 and 60 °C.", "60 °C"),
    (PUMP, "Stop the motor after you open the housing.", "after"),
    (LEAVE, "Requests are not approved by the line manager.", "not approved"),
]
