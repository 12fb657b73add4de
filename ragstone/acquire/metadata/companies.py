"""The companies that a text names; one with a legal form is found without it, too: Acme AG is Acme AG and Acme.

A name is a run of capitalised words with a sign that it is a company's: a legal form, a phrase such as "the
manufacturer" or "CEO of" before it, or an entry in a list of well-known companies.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from importlib.resources import files

from ragstone.language import lexicon
from ragstone.settings.yaml_text import read_yaml

_UPPER = "".join(char for char in map(chr, range(0x500)) if char.isupper())
_REST = rf"(?:[\w.&-]|['’](?=[{_UPPER}]))*(?<![.&-])"
_GAP = r"(?:(?<=Sdn|Pte|Pvt|Pty)\.|(?<= Co)\.)? (?:[&+] )?"
# The lookbehind follows the first letter, so that the search can skip from capital to capital.
_RUN = re.compile(rf"[{_UPPER}](?<![\w.-].){_REST}(?:{_GAP}[{_UPPER}]{_REST}| plc\b){{0,11}}")
_JOINING = "&+"
_QUOTES = "\"'„“”«»‘’"
_BEFORE = 90
"""Characters before a name to search for an office."""


def find(text: str) -> tuple[str, ...]:
    """Return the names of companies in a text, sorted."""
    names: set[str] = set()
    for match in _RUN.finditer(text):
        run = match.group().split()
        names.update(_known_in(run))
        names.update(_named(run, announced=_announced(text, match.start())))
    return tuple(sorted(names - {""}))


def _known_in(run: list[str]) -> Iterator[str]:
    """Yield the well-known companies in a run of capitalised words, even in a word such as Siemens-Konzern."""
    for at, word in enumerate(run):
        if names := _known().get(word) or _known().get(word.partition("-")[0]):
            whole = " ".join(run[at : at + 3])
            yield next((name for name in names if f"{whole} ".startswith((f"{name} ", f"{name}-"))), "")


def _named(run: list[str], *, announced: bool) -> Iterator[str]:
    """Yield the companies in a run of capitalised words; ``announced`` if the words before it announce one."""
    name: list[str] = []
    at = 0
    while at < len(run):
        form = _form_at(run, at)
        named = form > 0 or run[at] in _acronyms()
        if named or run[at] in _announcing():
            yield (plain := _plain(name, certain=named or announced))
            if plain and form:
                yield " ".join([plain, *run[at : at + form]])
            name, announced = [], not named or run[at] in _forms("before")
        else:
            name.append(run[at])
        at += max(form, 1)
    yield _plain(name, certain=announced)


def _plain(name: list[str], *, certain: bool) -> str:
    """Return a name without its leading words; empty if it is not a company's."""
    while name and (name[0] in _leading() or name[0] in _JOINING):
        name = name[1:]
    while name and name[-1] in _JOINING:
        name = name[:-1]
    plain = " ".join(name)
    if certain:
        return plain
    # A run that ends in a well-known name ("Visit Deutsche Telekom") is that company, which `_known_in` yields.
    kind = len(name) > 1 and name[-1] in _forms("kinds") and not plain.endswith(_listed())
    return plain if kind else ""


def _form_at(run: list[str], at: int) -> int:
    """Return the number of words in the legal form at this place; 0 if there is none."""
    for count in range(min(4, len(run) - at), 0, -1):
        if " ".join(run[at : at + count]).replace(".", "") in _forms("after"):
            return count
    return 0


def _announced(text: str, start: int) -> bool:
    """Return whether the words before announce the name of a company."""
    before = text[max(0, start - _BEFORE) : start].rstrip(_QUOTES)
    word = before[before.rstrip().rfind(" ") + 1 :].rstrip().lstrip(_QUOTES + "(")
    if not word or not before[-1:].isspace():
        return False
    if word in _announcing():
        return True
    return word in _linking() and _office().search(before) is not None


@cache
def _listed() -> tuple[str, ...]:
    """Return the well-known companies."""
    lines = (files("ragstone.acquire.metadata") / "companies.txt").read_text(encoding="utf-8").splitlines()
    return tuple(line for line in lines if line and not line.startswith("#"))


@cache
def _known() -> dict[str, list[str]]:
    """Return the well-known names by their first words, longer names first."""
    known: dict[str, list[str]] = {}
    for name in sorted(_listed(), key=len, reverse=True):
        known.setdefault(name.split()[0], []).append(name)
    return known


@cache
def _forms(kind: str) -> frozenset[str]:
    return frozenset(_legal_forms()[kind])


@cache
def _legal_forms() -> dict[str, list[str]]:
    return read_yaml((files("ragstone.acquire.metadata") / "legal_forms.yaml").read_text(encoding="utf-8"))


@cache
def _all(key: str) -> frozenset[str]:
    return frozenset(lexicon().companies[key])


@cache
def _leading() -> frozenset[str]:
    return _all("leading")


@cache
def _announcing() -> frozenset[str]:
    return _all("announcing") | _forms("before")


@cache
def _linking() -> frozenset[str]:
    return _all("at") | _all("of")


@cache
def _acronyms() -> frozenset[str]:
    """Return the offices that follow the name of a company: "Fairphone CEO"."""
    return frozenset(word for word in _all("chiefs") if word.isupper())


@cache
def _office() -> re.Pattern[str]:
    """Return a pattern for an office, and the words that link it to a name, at the end of a text."""
    offices, chiefs, at, of = ("|".join(sorted(_all(key))) for key in ("offices", "chiefs", "at", "of"))
    return re.compile(rf"\b(?:(?:{offices}|{chiefs})\b[^.;:!?\n]*\s(?:{at})|(?:{chiefs})\s+(?:{of}))\s+$")
