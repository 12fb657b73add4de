"""Telephone numbers and e-mail addresses: how questions ask for them, and how texts write them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache

from ragstone.core.question import Contact
from ragstone.language.facts import words
from ragstone.language.words import any_of, lexicon, plain

_NUMBER = re.compile(r"(?<![\w.])(?:\+|\()?\d[\d\s()/.\u00a0-]{3,22}\d(?!\w)")
_ADDRESS = re.compile(r"[\w.+-]+@[\w-]+\.\w|[\w.+-]+ ?[\[(]at[\])] ?[\w-]+")
_DAY = re.compile(r"\d{4}-\d\d-\d\d|\d{1,2}[./]\d{1,2}[./]\d{4}")
_FEWEST = 6
"""Digits of a telephone number in a text; an extension below its heading may be shorter."""
_KINDS: tuple[Contact, ...] = ("mail", "mobile", "phone")
_KEYS: dict[Contact, str] = {"mail": "mails", "mobile": "mobiles", "phone": "phones"}
_LEAD = (
    r"^\W*(?:(?:please )?(?:give|tell|show|send) (?:me|us) |do you (?:have|know) "
    r"|(?:what|which|wie|was|wo|welche\w*|koks|koki\w*|apa(?:kah)?|wat|welk\w*|qual|jaki\w*|vad)"
    r"(?:'s|s| is| are| was| ist| lautet| yra| adalah| ialah| e| jest| ar)? )?"
    r"(?:(?:the|a|an|die|das|der|de|het|il|lo|la|den|det) )?"
    r"(?:(?!(?:did|does|do|has|have|had|is|was|are|were|the|a|an|my|this|that)\b)[\w-]+ ){0,2}?"
)
_WHOSE = r"(?:the|our|your|his|her|their|its|die|das|der|seine|ihre|deren|dessen)"
_OF = r"(?:of|for|from|to|von|vom|des|der|fur|dari|bagi|van|voor|di|del|till)"
_END = r"(?: (?:numbers?|address|adresse|numeris|numeri))?"
_MOST_WORDS = 7
"""Words of a question that only names what it wants, such as "Anna Berg mobile"."""


def contact_in(question: str) -> Contact | None:
    """Return which number or address a question asks for; None if it asks for something else."""
    folded = " ".join(plain(question).replace("’", "'").split())
    return next(
        (
            kind
            for kind in _KINDS
            if any(word in folded for word in _beginnings(kind))
            and (_asked(kind).search(folded) or _only_names(kind, question))
        ),
        None,
    )


def is_of_contact(kind: Contact, heading: str) -> bool:
    """Return whether a heading is of such numbers or addresses."""
    return _words(kind).search(plain(heading)) is not None


def has_contact(kind: Contact, text: str) -> bool:
    """Return whether a text has such a number or address; a mobile number must be called so."""
    if kind == "mail":
        return _ADDRESS.search(text) is not None
    if kind == "mobile" and not _words(kind).search(plain(text)):
        return False
    found = (one.group() for one in _NUMBER.finditer(_DAY.sub(" ", text)))
    return any(sum(map(str.isdigit, one)) >= _FEWEST for one in found)


def _only_names(kind: Contact, question: str) -> bool:
    """Return whether a question is a name with such a word behind it, or with "tel" or a "number" in front of it."""
    found = words(question)
    if not 1 < len(found) <= _MOST_WORDS or any((word.stop and len(word.lower) > 1) or word.value for word in found):
        return False
    return _beside(kind).search(plain(question).strip(" ?.!")) is not None


@cache
def _words(kind: Contact) -> re.Pattern[str]:
    more: Sequence[str] = lexicon().table_words["extensions"] if kind == "phone" else ()
    return re.compile(rf"(?<!\w)(?:{any_of(map(plain, (*_names(kind), *more)))})(?!\w)")


@cache
def _asked(kind: Contact) -> re.Pattern[str]:
    """Return a pattern of questions for it: "what is the phone number of", "Anna's mobile", "what is the fax"."""
    named = any_of(_names(kind))
    return re.compile(
        rf"{_LEAD}(?:{named}){_END} {_OF} (?!\d)|'s? (?:[\w-]+ )?(?:{named}){_END}\W*$"
        rf"|^\W*(?:what(?:'s|s| is| are)|wie (?:ist|lautet)) {_WHOSE} (?:[\w-]+ ){{0,3}}?(?:{named}){_END}\W*$"
        rf"|^\W*(?:koks|koki\w*|apa(?:kah)?|qual|jaki\w*) (?:[\w-]+ ){{0,5}}?(?:{named}){_END}\W*$"
    )


@cache
def _beside(kind: Contact) -> re.Pattern[str]:
    named = _names(kind)
    ends = ("number", "nummer", "numeris", "address", "adresse")
    first = [one for one in named if one.endswith(ends) or one == "tel"]
    return re.compile(rf"^(?:{any_of(first)}) \S|\S (?:{any_of(named)}){_END}$")


@cache
def _beginnings(kind: Contact) -> tuple[str, ...]:
    """Return texts of which every question for it has one: few questions need the patterns."""
    return tuple(name.partition("*")[0] for name in _names(kind))


@cache
def _names(kind: Contact) -> tuple[str, ...]:
    return tuple(map(plain, lexicon().table_words[_KEYS[kind]]))
