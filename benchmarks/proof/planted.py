"""Sentences whose support is known: true ones of a data set, and the same sentences with one thing changed.

A changed sentence is false or at least unproved, because the evidence says something else. The inserted words are
chosen here; they do not come from the lists that answers are checked with.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from ragstone.chunk import sentences
from ragstone.review.dataset import Dataset, Query

_NUMBER = re.compile(r"(?<![\w.,])\d+(?:[.,]\d+)*(?![\w])")
_NAME = re.compile(r"(?<=[a-zß-ÿ,'’\"»“] )[A-ZÄÖÜ][\w'’-]+(?: (?:of |de |von )?[A-ZÄÖÜ][\w'’-]+)*")
_AUXILIARY = {
    "en": re.compile(
        r"\b(?:is|are|was|were|can|could|will|would|may|should|must|has been|have been|had been)\b(?! not| n't|n't)"
    ),
    "de": re.compile(r"\b(?:ist|sind|war|waren|wurde|wurden|kann|können|wird|werden|hat|haben)\b(?! nicht)"),
}
_NOT = {"en": "not", "de": "nicht"}
_NEGATED = {"en": re.compile(r" (?:not|n't|never)\b"), "de": re.compile(r" (?:nicht|nie|niemals)\b")}
# Opposites that annotators of other sets use; the checker's lists contain only some of them.
_OPPOSITES = {
    "en": (
        "before:after increase:decrease increased:decreased first:last more:less most:fewest north:south east:west "
        "northern:southern western:eastern large:small largest:smallest early:late with:without above:below "
        "always:never upper:lower higher:lower begins:ends began:ended won:lost male:female inside:outside "
        "directly:indirectly legal:illegal common:rare successful:unsuccessful major:minor initial:final "
        "ancient:modern public:private positive:negative open:closed maximum:minimum over:under father:mother "
        "son:daughter brother:sister king:queen old:young right:left"
    ),
    "de": (
        "vor:nach mehr:weniger erste:letzte ersten:letzten große:kleine großen:kleinen größte:kleinste mit:ohne "
        "nördlich:südlich westlich:östlich früher:später höher:niedriger immer:nie über:unter öffentlichen:privaten "
        "häufig:selten direkt:indirekt wichtigsten:unwichtigsten alte:neue"
    ),
}
KINDS = ("number", "number of the passage", "name", "name of the passage", "negation", "opposite", "swap", "elsewhere")


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """A sentence put to the evidence of a question.

    ``kind`` is empty for a true sentence. A ``quoted`` sentence is the document's, any other the annotator's;
    ``before`` is the part of the answer that precedes it. ``unsupported`` are the words that nothing supports, if
    they are known.
    """

    query: Query
    text: str
    kind: str
    quoted: bool
    before: str = ""
    unsupported: tuple[str, ...] = ()


def is_fitted(number: int) -> bool:
    """Return whether coefficients are fitted to the claims of this question; the others measure them."""
    return number % 2 == 0


def claims(dataset: Dataset, seed: int = 1) -> list[Claim]:
    """Return the true sentences of a data set, each followed by its possible changes.

    For CLAP NQ these are the sentences of its answers and the marked evidence. If answers are not sentences, as in
    XQuAD, they are the sentences that contain the answers.
    """
    texts = {document.id: document.text for document in dataset.documents()}
    true = [claim for query in dataset.queries if query.answerable for claim in _true(query, dataset, texts)]
    chance = random.Random(seed)
    out: list[Claim] = []
    for claim in true:
        own = set(dataset.qrels.get(claim.query.id, {}))
        passage = " ".join(texts[one] for one in own)
        others = [one.text for one in chance.sample(true, min(len(true), 20)) if not own & _relevant(dataset, one)]
        out.append(claim)
        for kind in KINDS:
            changed = others[0] if kind == "elsewhere" and others else _changed(claim, kind, passage, others, chance)
            if changed and changed != claim.text and not _in(changed, passage):
                out.append(Claim(query=claim.query, text=changed, kind=kind, quoted=claim.quoted, before=claim.before))
    return out


def _relevant(dataset: Dataset, claim: Claim) -> set[str]:
    return set(dataset.qrels.get(claim.query.id, {}))


def _in(sentence: str, passage: str) -> bool:
    return " ".join(sentence.split()) in " ".join(passage.split())


def _true(query: Query, dataset: Dataset, texts: Mapping[str, str]) -> Iterator[Claim]:
    if query.evidence_sentences:
        for answer in query.answers[:1]:
            for span in sentences(answer):
                if len(span.of(answer).split()) >= 4:
                    before = answer[: span.start]
                    yield Claim(query=query, text=span.of(answer), kind="", quoted=False, before=before)
        for sentence in query.evidence_sentences[:2]:
            yield Claim(query=query, text=sentence, kind="", quoted=True)
        return
    for document in dataset.qrels.get(query.id, {}):
        text = texts.get(document, "")
        for answer in query.answers[:1]:
            holding = [span for span in sentences(text) if answer in span.of(text)]
            if holding:
                yield Claim(query=query, text=holding[0].of(text), kind="", quoted=True)


def _changed(claim: Claim, kind: str, passage: str, others: Sequence[str], chance: random.Random) -> str:
    language = claim.query.lang or "en"
    match kind:
        case "number":
            return _replaced(claim.text, _NUMBER, lambda old: _other_number(old, chance), chance)
        case "number of the passage":
            return _replaced(
                claim.text, _NUMBER, lambda old: _pick(_NUMBER, [passage], claim.text, old, chance), chance
            )
        case "name":
            return _replaced(
                claim.text, _NAME, lambda old: _pick(_NAME, others, claim.text + passage, old, chance), chance
            )
        case "name of the passage":
            return _replaced(claim.text, _NAME, lambda old: _pick(_NAME, [passage], claim.text, old, chance), chance)
        case "negation":
            return _negated(claim.text, language)
        case "opposite":
            return _opposite(claim.text, language)
        case "swap":
            return _swapped(claim.text, chance)
        case _:
            return ""


def _replaced(text: str, pattern: re.Pattern[str], other: Callable[[str], str], chance: random.Random) -> str:
    found = list(pattern.finditer(text))
    if not found:
        return ""
    match = chance.choice(found)
    new = other(match.group())
    return text[: match.start()] + new + text[match.end() :] if new else ""


def _other_number(old: str, chance: random.Random) -> str:
    """Return a number of the same form with another digit, not the first, so that it is as likely as the true one."""
    places = [i for i, letter in enumerate(old) if letter.isdigit()]
    place = chance.choice(places[1:] or places)
    return old[:place] + chance.choice([d for d in "123456789" if d != old[place]]) + old[place + 1 :]


def _pick(pattern: re.Pattern[str], texts: Sequence[str], but: str, old: str, chance: random.Random) -> str:
    """Return another match of about the same length that is not in the text it goes into."""
    some = [one for text in texts for one in pattern.findall(text) if one not in but and one != old]
    some = [one for one in some if not set(one.split()) & set(old.split())]
    near = [one for one in some if len(one.split()) == len(old.split())] or some
    return chance.choice(near) if near else ""


def _negated(text: str, language: str) -> str:
    if match := _NEGATED[language].search(text):
        return text[: match.start()] + text[match.end() :]
    match = _AUXILIARY[language].search(text)
    return f"{text[: match.end()]} {_NOT[language]}{text[match.end() :]}" if match else ""


def _opposite(text: str, language: str) -> str:
    pairs = [pair.split(":") for pair in _OPPOSITES[language].split()]
    other = dict(pairs) | {b: a for a, b in pairs}
    for match in re.finditer(r"\b[^\W\d_]+\b", text):
        if match.group() in other:
            return text[: match.start()] + other[match.group()] + text[match.end() :]
    return ""


def _swapped(text: str, chance: random.Random) -> str:
    """Return the text with two names or two numbers swapped, unless they are in a list, where order means nothing."""
    for pattern in chance.sample([_NAME, _NUMBER], 2):
        found = list({match.group(): match for match in pattern.finditer(text)}.values())
        pairs = [
            (one, other)
            for i, one in enumerate(found)
            for other in found[i + 1 :]
            if len(re.sub(r"\b(?:and|or|und|oder)\b|\W", "", text[one.end() : other.start()])) > 12
        ]
        if pairs:
            one, other = chance.choice(pairs)
            between = text[one.end() : other.start()]
            return text[: one.start()] + other.group() + between + one.group() + text[other.end() :]
    return ""
