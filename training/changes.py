"""Claims made by rule from a sentence of a passage: false ones, and true ones of the same form.

Each kind of change has its true twin (a hedge weakened for one dropped, a clause that the passage has for one that it
does not), so that no form by itself tells true from false. The kinds are those that Kryscinski et al. 2020
(arXiv 1910.12840), Tang et al. 2024 (MiniCheck, arXiv 2404.10774) and Schuster et al. 2021 (VitaminC, arXiv
2103.08541) describe; the rules and word lists are our own.
"""

from __future__ import annotations

import itertools
import random
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

SUPPORTED, CONTRADICTED, UNKNOWN, UNSUPPORTED = "supported", "contradicted", "unknown", "unsupported"
"""``unsupported`` is contradicted or unknown, not told apart."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Changed:
    """A claim made of a sentence; ``spans`` are the characters that nothing supports, None where it is not known."""

    text: str
    label: str
    kind: str
    spans: tuple[tuple[int, int], ...] | None


NUMBER = re.compile(r"(?<![\w.,-])\d+(?:[.,]\d+)*(?![\w-])")
NAME = re.compile(r"(?<=[a-z,;] )[A-Z][\w'-]+(?: (?:of |de |the )?[A-Z][\w'-]+)*")
TAIL = re.compile(
    r",? (?:because of|due to|in order to|as a result of|after|before|despite|instead of|with the help of|thanks to"
    r"|on behalf of|in response to|in addition to|except for|for the first time|at the request of|along with|without"
    r"|by|until|since|during|against|under|from|which|who|where|although|while|even though)"
    r" [^,;.()]{8,70}(?=[.]$)"
)
AUXILIARY = re.compile(r"\b(is|are|was|were|can|could|will|would|should|must|has|have|had|does|do|did)\b(?! not\b|n't)")
PLAIN = re.compile(r"\b(is|are|was|were|has|have) (?=[a-z])")
CAUSE = re.compile(
    r"^(?P<a>[^;]{8,130}?),? (?P<link>because of|due to|as a result of|because|caused|causes|led to|leads to"
    r"|resulted in|results in|produces|produced|triggers|triggered) (?P<b>[^;]{4,110})\.$"
)
HEDGES = {
    r"\b(?:may|might|could)\b(?! not)": ("will", "must"),
    r"\b(?:can)\b(?! not|not)": ("always",),
    r"\b(?:possibly|probably|perhaps|likely|reportedly|allegedly|apparently|presumably)\b": ("certainly", "definitely"),
    r"\b(?:suggest|suggests|suggested|indicates|indicated|believed|think|thought|argued|claimed)\b": ("proved",),
    r"\b(?:about|around|approximately|roughly|nearly|almost)(?= \d)": ("exactly",),
    r"\b(?:usually|often|sometimes|generally|typically|mostly|frequently|occasionally|rarely)\b": ("always",),
}
SOFTER = {
    "may": "might", "might": "may", "could": "might", "usually": "often", "about": "around", "around": "about",
    "approximately": "about", "likely": "probably", "often": "frequently", "probably": "likely", "typically": "usually",
}  # fmt: skip
QUANTIFIERS = {
    r"\b[Ss]ome\b(?= [a-z])": (("all", UNKNOWN), ("no", CONTRADICTED), ("most", UNKNOWN)),
    r"\b[Mm]any\b(?= [a-z])": (("all", UNKNOWN), ("few", CONTRADICTED)),
    r"\b[Mm]ost\b(?= (?:of )?[a-z]+s\b)": (("all", UNKNOWN), ("few", CONTRADICTED)),
    r"\b[Ss]everal\b": (("all", UNKNOWN), ("no", CONTRADICTED)),
    r"\b[Aa]ll\b(?= (?:of )?(?:the )?[a-z]+s\b)": (("some", SUPPORTED), ("no", CONTRADICTED), ("few", CONTRADICTED)),
    r"\b[Ee]ach\b": (("every", SUPPORTED), ("no", CONTRADICTED)),
    r"\b[Aa]t least\b": (("at most", UNSUPPORTED), ("exactly", UNKNOWN), ("no fewer than", SUPPORTED)),
    r"\b[Uu]p to\b": (("at least", UNSUPPORTED), ("at most", SUPPORTED)),
    r"\b[Mm]ore than\b(?= \d)": (("less than", CONTRADICTED), ("over", SUPPORTED), ("exactly", UNSUPPORTED)),
    r"\b[Ll]ess than\b(?= \d)": (("more than", CONTRADICTED), ("below", SUPPORTED)),
    r"\b[Oo]nly\b": (("not only", CONTRADICTED), ("solely", SUPPORTED)),
    r"\b[Oo]ne of the\b": (("the only one of the", UNKNOWN), ("among the", SUPPORTED)),
    r"\bboth\b": (("neither", CONTRADICTED),),
    r"\beither\b": (("both", UNSUPPORTED),),
}
UNITS = (
    "kilometers kilometres km miles", "meters metres m feet yards", "kilograms kg pounds tons tonnes",
    "grams g ounces", "million billion thousand", "hours minutes days weeks months years", "percent % permille",
    "dollars euros pounds yen", "°C °F", "liters litres gallons", "mg g µg kg", "MB GB TB KB",
    "inches centimeters centimetres cm mm", "square kilometers square miles acres hectares",
)  # fmt: skip
SAME_UNIT = (
    {"kilometers", "kilometres", "km"}, {"meters", "metres", "m"}, {"kilograms", "kg"}, {"grams", "g"},
    {"percent", "%"}, {"liters", "litres"}, {"centimeters", "centimetres", "cm"}, {"tons", "tonnes"},
)  # fmt: skip
OPPOSITES = (
    "rose:fell rises:falls rise:fall gained:lost gains:loses accepted:rejected allowed:forbidden allows:prevents "
    "supported:opposed supports:opposes joined:left arrived:departed bought:sold built:demolished born:died "
    "strengthened:weakened expanded:shrank improved:worsened hot:cold warm:cool wet:dry wide:narrow deep:shallow "
    "high:low long:short strong:weak rich:poor fast:slow hard:soft heavy:light new:old good:bad better:worse "
    "best:worst top:bottom front:back inner:outer internal:external domestic:foreign urban:rural senior:junior "
    "majority:minority victory:defeat success:failure profit:loss approval:rejection agreed:refused "
    "same:different similar:unlike possible:impossible likely:unlikely able:unable known:unknown complete:partial "
    "permanent:temporary formal:informal active:inactive visible:invisible healthy:sick safe:dangerous "
    "expensive:cheap popular:unpopular simple:complex required:optional mandatory:voluntary enabled:disabled "
    "included:excluded includes:excludes added:removed attracts:repels absorbs:releases shorter:longer "
    "smaller:larger younger:older faster:slower lighter:heavier "
)
OPPOSITE = {a: b for pair in OPPOSITES.split() for a, b in (pair.split(":"), pair.split(":")[::-1])}
NUMBERS = "one two three four five six seven eight nine ten eleven twelve"
SPELLED = dict(enumerate(NUMBERS.split(), start=1))


def changes(sentence: str, own: Sequence[str], others: Sequence[str], chance: random.Random) -> list[Changed]:
    """Return what can be made of a sentence, true and false claims.

    Args:
        sentence: as in the passage.
        own: the other sentences of the evidence that the claim is put to.
        others: sentences of other passages.
        chance: chooses.
    """
    makers: tuple[Callable[[], list[Changed]], ...] = (
        lambda: _hedge(sentence, chance),
        lambda: _weaker(sentence),
        lambda: _quantifier(sentence, chance),
        lambda: _unit(sentence, chance),
        lambda: _number(sentence, chance),
        lambda: _negation(sentence),
        lambda: _opposite(sentence, chance),
        lambda: _name(sentence, [*own, *others], chance),
        lambda: _roles(sentence, chance),
        lambda: _cause(sentence),
        lambda: _clause(sentence, own, others, chance),
        lambda: _tail(sentence, others, chance),
    )
    return [one for maker in makers for one in maker() if one.text != sentence]


def _put(sentence: str, start: int, end: int, new: str, label: str, kind: str, *, marked: bool = True) -> Changed:
    """Return the sentence with other words in a place; what is put there is what nothing supports."""
    if sentence[start:end][:1].isupper() and new:
        new = new[0].upper() + new[1:]
    spans: tuple[tuple[int, int], ...] | None
    spans = () if label == SUPPORTED else ((start, start + len(new)),) if marked and new else None
    return Changed(text=sentence[:start] + new + sentence[end:], label=label, kind=kind, spans=spans)


def _hedge(sentence: str, chance: random.Random) -> list[Changed]:
    out: list[Changed] = []
    for pattern, stronger in HEDGES.items():
        if match := re.search(pattern, sentence):
            new = chance.choice(stronger)
            new = f"{match.group()} {new}" if match.group() == "can" else new
            out.append(_put(sentence, *match.span(), new, UNKNOWN, "hedge"))
            if softer := SOFTER.get(match.group()):
                out.append(_put(sentence, *match.span(), softer, SUPPORTED, "hedge twin"))
            if match.group() in {"possibly", "probably", "perhaps", "reportedly", "allegedly", "apparently"}:
                out.append(_put(sentence, match.start(), match.end() + 1, "", UNKNOWN, "hedge", marked=False))
    return out[:3]


def _weaker(sentence: str) -> list[Changed]:
    """Say the same less surely, which the evidence supports."""
    match = PLAIN.search(sentence)
    if not match:
        return []
    may = {"is": "may be", "are": "may be", "was": "may have been", "were": "may have been"}.get(match.group(1))
    return [_put(sentence, *match.span(1), may, SUPPORTED, "weaker")] if may else []


def _quantifier(sentence: str, chance: random.Random) -> list[Changed]:
    out: list[Changed] = []
    for pattern, options in QUANTIFIERS.items():
        if match := re.search(pattern, sentence):
            false = [one for one in options if one[1] != SUPPORTED]
            out += [_put(sentence, *match.span(), *chance.choice(false), "quantifier")]
            out += [
                _put(sentence, *match.span(), new, label, "quantifier twin")
                for new, label in options
                if label == SUPPORTED
            ]
    return out[:4]


def _unit(sentence: str, chance: random.Random) -> list[Changed]:
    out: list[Changed] = []
    for group in UNITS:
        names = group.split()
        match = re.search(rf"(?<=\d)( ?)({'|'.join(map(re.escape, names))})(?!\w)", sentence)
        if match:
            same = next((some for some in SAME_UNIT if match.group(2) in some), {match.group(2)})
            wrong = [name for name in names if name not in same]
            if wrong:
                out.append(_put(sentence, *match.span(2), chance.choice(wrong), CONTRADICTED, "unit"))
            if right := sorted(same - {match.group(2)}):
                out.append(_put(sentence, *match.span(2), chance.choice(right), SUPPORTED, "unit twin"))
    return out[:3]


def _number(sentence: str, chance: random.Random) -> list[Changed]:
    found = list(NUMBER.finditer(sentence))
    if not found:
        return []
    match = chance.choice(found)
    old, out = match.group(), list[Changed]()
    places = [i for i, letter in enumerate(old) if letter.isdigit()]
    place = chance.choice(places)
    new = old[:place] + chance.choice([d for d in "123456789" if d != old[place]]) + old[place + 1 :]
    out.append(_put(sentence, *match.span(), new, CONTRADICTED, "number"))
    if old.isdigit() and int(old) in SPELLED:
        out.append(_put(sentence, *match.span(), SPELLED[int(old)], SUPPORTED, "number twin"))
    elif "," in old and len(old.replace(",", "")) > 3 and "." not in old:
        out.append(_put(sentence, *match.span(), old.replace(",", ""), SUPPORTED, "number twin"))
    return out


def _negation(sentence: str) -> list[Changed]:
    match = AUXILIARY.search(sentence)
    return [_put(sentence, match.end(), match.end(), " not", CONTRADICTED, "negation")] if match else []


def _opposite(sentence: str, chance: random.Random) -> list[Changed]:
    found = [match for match in re.finditer(r"\b[a-z]+\b", sentence) if match.group() in OPPOSITE]
    if not found:
        return []
    match = chance.choice(found)
    return [_put(sentence, *match.span(), OPPOSITE[match.group()], CONTRADICTED, "opposite")]


def _name(sentence: str, others: Sequence[str], chance: random.Random) -> list[Changed]:
    found = list(NAME.finditer(sentence))
    some = [name for text in others for name in NAME.findall(text) if name not in sentence]
    if not found or not some:
        return []
    match = chance.choice(found)
    near = [one for one in some if len(one.split()) == len(match.group().split())] or some
    return [_put(sentence, *match.span(), chance.choice(near), UNSUPPORTED, "name")]


def _roles(sentence: str, chance: random.Random) -> list[Changed]:
    """Swap two names with a verb between them, which says another thing, or those of a pair, which says the same."""
    found = list(
        {match.group(): match for match in re.finditer(rf"{NAME.pattern}|^[A-Z]\w+ [A-Z]\w+", sentence)}.values()
    )
    out: list[Changed] = []
    for one, other in itertools.pairwise(found):
        between = sentence[one.end() : other.start()]
        swapped = sentence[: one.start()] + other.group() + between + one.group() + sentence[other.end() :]
        if between.strip() in {"and", "or"}:
            out.append(Changed(text=swapped, label=SUPPORTED, kind="roles twin", spans=()))
        elif len(re.sub(r"\b(?:and|or)\b|\W", "", between)) > 8:
            out.append(Changed(text=swapped, label=UNSUPPORTED, kind="roles", spans=None))
    return chance.sample(out, min(len(out), 2))


def _cause(sentence: str) -> list[Changed]:
    match = CAUSE.match(sentence)
    if not match:
        return []
    a, link, b = match.group("a", "link", "b")
    lowered, raised = a[:1].lower() + a[1:], b[:1].upper() + b[1:]
    out = [Changed(text=f"{raised} {link} {lowered}.", label=UNSUPPORTED, kind="cause", spans=None)]
    if link in {"because", "because of", "due to", "as a result of"}:
        out.append(Changed(text=f"{link.capitalize()} {b}, {lowered}.", label=SUPPORTED, kind="cause twin", spans=()))
    elif link in {"caused", "produced", "triggered"}:
        out.append(Changed(text=f"{raised} was {link} by {lowered}.", label=SUPPORTED, kind="cause twin", spans=()))
    return out


def _clause(sentence: str, own: Sequence[str], others: Sequence[str], chance: random.Random) -> list[Changed]:
    """Join a whole sentence, one that the evidence has or one that it does not; or drop the end of a sentence."""
    out: list[Changed] = []
    bare = sentence.rstrip(".")
    for label, pool in ((SUPPORTED, own), (UNKNOWN, others)):
        short = [one.rstrip(".") for one in pool if 15 < len(one) < 110 and one != sentence and one[:1].isalpha()]
        if short:
            added = chance.choice(short)
            added = added if re.match(r"I |[A-Z]\w* [A-Z]|[A-Z]{2}", added) else added[:1].lower() + added[1:]
            joint = chance.choice([", and ", "; ", ", while ", " and "])
            text = f"{bare}{joint}{added}."
            spans = () if label == SUPPORTED else ((len(bare) + len(joint), len(text)),)
            kind = "clause added" if label == UNKNOWN else "clause joined"
            out.append(Changed(text=text, label=label, kind=kind, spans=spans))
    cut = re.search(
        r"(?<=\w{3})(?:, (?:which|who|where|and|but|while|although|including|such as)\b| \([^)]*\)).*", bare
    )
    if cut and cut.start() > 25:
        out.append(Changed(text=bare[: cut.start()] + ".", label=SUPPORTED, kind="clause dropped", spans=()))
    return out


def _tail(sentence: str, others: Sequence[str], chance: random.Random) -> list[Changed]:
    """Append the end of another sentence ("after the flood of 1953"), or put it in place of the own, or drop that."""
    out: list[Changed] = []
    mine = TAIL.search(sentence)
    tails = [match.group() for text in others if (match := TAIL.search(text))]
    if tails and sentence.endswith("."):
        body = sentence[: mine.start()] if mine else sentence[:-1]
        tail = chance.choice(tails)
        text = f"{body}{tail}."
        out.append(Changed(text=text, label=UNKNOWN, kind="tail added", spans=((len(body), len(text)),)))
    if mine and mine.start() > 25:
        out.append(Changed(text=sentence[: mine.start()] + ".", label=SUPPORTED, kind="tail dropped", spans=()))
    return out
