"""Whether a sentence says that the documents do not tell something.

Writers say it in many words: "The lease is silent on pets", "No price is given", "The chronicle stops at 2018". A
sentence becomes a row of signs, one for each kind of word that such sentences have: names of documents, verbs of
telling and of finding, words for a detail, negations, words of the question. A logistic model of the signs, and of
pairs of them within a clause, decides; ``tools/fit_absence.py`` fits it. The words of each kind are in the words file
of each language, so one model serves all of them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence, Set
from functools import cache, lru_cache
from importlib.resources import files

from ragstone.language import lexicon, plain
from ragstone.language.facts import Word, lexical, words

NEAR = 5
"""Words between two signs that make a pair, at most, with the second one."""
SHORT, MIDDLE = 3, 7
"""Words of a short sentence, and of one of middle length."""
THRESHOLD = 0.0

_KINDS = {
    "sources": "D",
    "tell": "T",
    "give": "G",
    "seek": "S",
    "detail": "I",
    "missing": "M",
    "only": "O",
    "here": "H",
    "request": "R",
    "reader": "P",
    "whether": "W",
    "about": "A",
    "condition": "F",
    "rule": "V",
    "others": "Z",
}
"""The signs of the kinds of words in the words files."""
_SIGNAL = frozenset("NLMmOoRr")
"""A sentence without any of these signs is no absence."""
_IN_QUESTION = "DTGSIMOHR"
"""Signs that mean less if the question has the word; they become small letters."""
_ASKED = ("sources", "tell", "give", "missing", "seek")
"""Kinds that count in the question itself: it may ask whether a document says something."""
_PLAIN = "X"
"""The sign of any other word that is not in the question; pairs of it say nothing."""
_NEGATED = ("tell", "seek")
"""Kinds whose words take a negative prefix, as in "unnamed" and "neminima"."""
_TOKEN = re.compile(r"[^\W_]+(?:'[^\W_]+)*")
_END = re.compile(r"[.;:!?]")


def is_absence(text: str, question: Sequence[Word], *, cited: bool) -> bool:
    """Return whether a sentence says that the documents do not tell something.

    Args:
        text: of the sentence, without Markdown.
        question: its words.
        cited: whether the writer names a source for the sentence.
    """
    if not _has_signal(text):
        return False
    found = features(text, question, cited=cited)
    return not found.isdisjoint(_SIGNAL) and score(found, _weights()) > THRESHOLD


def score(features: Set[str], weights: Mapping[str, float]) -> float:
    """Return the logarithm of the odds that a sentence with these features is an absence."""
    return weights["bias"] + sum(weights.get(one, 0.0) for one in features)


def features(text: str, question: Sequence[Word], *, cited: bool) -> set[str]:
    """Return the features of a sentence by name: its signs, pairs of them, its length, and what the question asks."""
    clauses = list(_clauses(text, question))
    row = [signs for clause in clauses for signs in clause]
    out = set[str]().union(*row)
    for clause in clauses:
        for place, signs in enumerate(clause):
            for others in clause[place + 1 : place + 1 + NEAR]:
                out |= {a + b for a in signs for b in others if {a, b} != {_PLAIN}}
    marked = [signs for signs in row if signs]
    out |= {f"^{one}" for one in marked[0]} | {f"{one}$" for one in marked[-1]} if marked else set()
    content = [signs for signs in row if signs & set("QXK")]
    asked = sum("Q" in signs for signs in content)
    said = {
        "short": len(row) <= SHORT,
        "middle": SHORT < len(row) <= MIDDLE,
        "asks": text.rstrip().endswith("?"),
        "cited": cited,
        "no content": not content,
        "only asked": 0 < asked == len(content),
        "nothing asked": not asked,
    }
    out |= {name for name, holds in said.items() if holds}
    absent = lexicon().absent
    return out | {f"asked {kind}" for kind in _ASKED if any(absent[kind].fullmatch(word.lower) for word in question)}


def _has_signal(text: str) -> bool:
    """Return whether a sentence may have a sign of `_SIGNAL`, which few have; the signs of all words take longer."""
    lists, low = lexicon(), plain(text).replace("’", "'")
    if any(lists.absent[kind].search(low) for kind, sign in _KINDS.items() if sign in _SIGNAL):
        return True
    return any(not _negated(token).isdisjoint(_SIGNAL) for token in _TOKEN.findall(low))


def _clauses(text: str, question: Sequence[Word]) -> Iterator[list[set[str]]]:
    """Yield the signs of each word of a sentence, clause by clause."""
    lists, low = lexicon(), plain(text).replace("’", "'")
    tokens = list(_TOKEN.finditer(low))
    kinds = {sign: {one.start() for one in lists.absent[kind].finditer(low)} for kind, sign in _KINDS.items()}
    kinds["D"] |= {one.start() for one in lists.documents.finditer(low)}
    read = {word.span.start: word for word in words(text)}
    clause: list[set[str]] = []
    for place, token in enumerate(tokens):
        signs = {sign for sign, starts in kinds.items() if token.start() in starts} | _negated(token[0])
        word = read.get(token.start())
        if word is not None and not word.stop:
            if lexical(word, question):
                signs = {one.lower() if one in _IN_QUESTION else one for one in signs} | {"Q"}
            elif not signs:
                signs = {"K" if word.key else _PLAIN}
        clause.append(signs)
        if place + 1 == len(tokens) or _END.search(low, token.end(), tokens[place + 1].start()):
            yield clause
            clause = []


@lru_cache(maxsize=8192)
def _negated(token: str) -> frozenset[str]:
    """Return the signs of a negation, a denial, a contrast, and of a word that a prefix negates."""
    lists = lexicon()
    signs = {"N"} if token in lists.negations or token.endswith("n't") else set[str]()
    signs |= {"L"} if token in lists.denials else set()
    signs |= {"C"} if token in lists.contrasts else set()
    for rest in (token.removeprefix(prefix) for prefix in lists.prefixes if len(prefix) > 1):
        if rest != token:
            signs |= {sign for kind in _NEGATED if lists.absent[kind].fullmatch(rest) for sign in ("N", _KINDS[kind])}
    return frozenset(signs)


@cache
def _weights() -> Mapping[str, float]:
    return json.loads((files("ragstone.respond.writing") / "absence.json").read_text(encoding="utf-8"))
