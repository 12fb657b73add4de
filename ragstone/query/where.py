"""The filter language: parse a filter, write it as text, and evaluate it.

    lang = de and (year >= 2020 or topic in (5G, "Press Release")) and not exists url

Comparisons are ``= != < <= > >=``, ``in (...)`` and ``not in (...)``; ``exists key`` asks for any value.
``not`` binds tightest, then ``and``, then ``or``. An unquoted value is a
number if JSON would read it as one, a boolean if it is ``true`` or ``false``, and else text, such as 5G, 2024-05-01 or
007. A quoted value is always text. Dates are ISO 8601 text, so ``date >= "2024"`` selects the years from 2024 on.

`matches` is the reference: every index must select exactly the chunks that it selects.
"""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable, Collection, Iterator
from difflib import get_close_matches
from typing import Any, Literal, NoReturn

from ragstone.core.access import READERS
from ragstone.core.errors import UsageError
from ragstone.core.filters import And, Compare, Exists, Filter, In, Not, Or, Scalar
from ragstone.core.frozen import frozen
from ragstone.core.naming import is_path
from ragstone.core.records import Metadata

MAX_LENGTH = 10_000
"""Characters of a filter."""
MAX_DEPTH = 50
"""Nesting of parentheses and ``not``."""

_RESERVED = {"and", "or", "not", "in", "exists"}
_TRUTH = {"true": True, "false": False}
_Op = Literal["=", "!=", "<", "<=", ">", ">="]
_COMPARISONS: dict[str, _Op] = {"=": "=", "==": "=", "!=": "!=", "<": "<", "<=": "<=", ">": ">", ">=": ">="}
_WORD = re.compile(r"""[^\s()=!<>,"']+""")
_TOKEN = re.compile(
    rf"""\s*(?:
        (?P<symbol>==|!=|<=|>=|[=<>(),])
      | "(?P<double>(?:[^"\\]|\\.)*)"
      | '(?P<single>(?:[^'\\]|\\.)*)'
      | (?P<word>{_WORD.pattern})
    )""",
    re.VERBOSE | re.DOTALL,
)
_KEY = re.compile(r"[\w.-]+")
_INTEGER = re.compile(r"-?(0|[1-9][0-9]*)")
_NUMBER = re.compile(_INTEGER.pattern + r"(\.[0-9]+)?([eE][+-]?[0-9]+)?")


def refuse_unknown_fields(where: Filter, fields: Collection[str]) -> None:
    """Refuse a filter on a field that no document has; it would find nothing without a word.

    Raises:
        UsageError: naming the field, and the nearest known one.
    """
    for field in (part.key for part in _parts(where)):
        if field not in fields:
            near = get_close_matches(field, fields, 1)
            hint = f"did you mean {near[0]}?" if near else f"fields are {', '.join(sorted(fields)[:20])}"
            raise UsageError(f"no document has a field '{field}'; {hint}")


def refuse_foreign_groups(where: Filter, own: Collection[str]) -> None:
    """Refuse a filter that would tell a reader which groups they are not in may read a document.

    Raises:
        UsageError: it compares the groups of documents with other groups than these, or by their order.
    """
    for part in _parts(where):
        if part.key == READERS and not _is_compared_only_with(part, own.__contains__):
            raise UsageError(f"'{READERS}' can only be compared, by =, != or in, with groups that you are in")


def refuse_paths(where: Filter) -> None:
    """Refuse a filter that would tell a reader in which folder of the server a file lies.

    Raises:
        UsageError: it compares sources with paths, or by their order.
    """
    for part in _parts(where):
        if part.key == "source" and not _is_compared_only_with(part, lambda value: not is_path(str(value))):
            raise UsageError("'source' can only be compared, by =, != or in, with addresses or publishers")


def _is_compared_only_with(part: Compare | In | Exists, is_allowed: Callable[[Scalar], bool]) -> bool:
    match part:
        case Compare(op=op, value=value):
            return op in ("=", "!=") and is_allowed(value)
        case In(values=values):
            return all(map(is_allowed, values))
        case Exists():
            return True


def _parts(where: Filter) -> Iterator[Compare | In | Exists]:
    match where:
        case Compare() | In() | Exists():
            yield where
        case Not(part=part):
            yield from _parts(part)
        case And(parts=parts) | Or(parts=parts):
            for part in parts:
                yield from _parts(part)


def parse(text: str) -> Filter:
    """Parse a filter.

    Raises:
        UsageError: the text is not a filter; the message names the character (from 1) and says what to write.
    """
    if len(text) > MAX_LENGTH:
        raise UsageError(f"the filter has {len(text)} characters; the limit is {MAX_LENGTH}")
    return _Parser(list(_tokens(text))).parse()


def describe(where: Filter) -> str:
    """Return the filter as text that `parse` reads back.

    The language cannot express ``And`` and ``Or`` of fewer than two parts, ``In`` without values, and numbers that are
    not finite.
    """
    match where:
        case Compare(key=key, op=op, value=value):
            return f"{_key(key)} {op} {_value(value)}"
        case In(key=key, values=values):
            return f"{_key(key)} in ({', '.join(map(_value, values))})"
        case Exists(key=key):
            return f"exists {_key(key)}"
        case Not(part=In(key=key, values=values)):
            return f"{_key(key)} not in ({', '.join(map(_value, values))})"
        case Not(part=part):
            return f"not {_nested(part)}"
        case And(parts=parts):
            return " and ".join(map(_nested, parts))
        case Or(parts=parts):
            return " or ".join(map(_nested, parts))


def matches(where: Filter, metadata: Metadata) -> bool:
    """Return whether metadata matches a filter.

    - A list matches if any member does; an empty list counts as a missing key.
    - Numbers compare as numbers, text by code points. Numbers, text and booleans never match each other, so ``1`` is
      neither ``true`` nor ``"1"``. Booleans have no order.
    - ``!=`` is the negation of ``=``: it is true if no member equals the value, or if the key is missing. All other
      comparisons need the key.
    """
    match where:
        case Compare(key=key, op="!=", value=value):
            return not any(_holds("=", member, value) for member in _members(metadata, key))
        case Compare(key=key, op=op, value=value):
            return any(_holds(op, member, value) for member in _members(metadata, key))
        case In(key=key, values=values):
            return any(_holds("=", member, value) for member in _members(metadata, key) for value in values)
        case Exists(key=key):
            return bool(_members(metadata, key))
        case Not(part=part):
            return not matches(part, metadata)
        case And(parts=parts):
            return all(matches(part, metadata) for part in parts)
        case Or(parts=parts):
            return any(matches(part, metadata) for part in parts)


# ---------------------------------------------------------------- evaluation

_HOLDS: dict[str, Callable[[Any, Any], bool]] = {
    "=": operator.eq,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


def _members(metadata: Metadata, key: str) -> tuple[Scalar, ...]:
    value = metadata.get(key, ())
    return value if isinstance(value, tuple) else (value,)


def _kind(value: Scalar) -> type:
    return bool if isinstance(value, bool) else str if isinstance(value, str) else float


def _holds(op: str, member: Scalar, value: Scalar) -> bool:
    kind = _kind(value)
    if kind is not _kind(member) or (kind is bool and op != "="):
        return False
    return _HOLDS[op](member, value)


# ---------------------------------------------------------------- writing


def _nested(part: Filter) -> str:
    return f"({describe(part)})" if isinstance(part, And | Or) else describe(part)


def _key(key: str) -> str:
    return key if _KEY.fullmatch(key) and key.lower() not in _RESERVED else _quoted(key)


def _value(value: Scalar) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if not isinstance(value, str):
        return repr(value)
    reads_as_text = (
        _WORD.fullmatch(value) and not _NUMBER.fullmatch(value) and value.lower() not in _RESERVED | set(_TRUTH)
    )
    return value if reads_as_text else _quoted(value)


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", r"\\").replace('"', r"\"") + '"'


# ---------------------------------------------------------------- parsing


@frozen
class _Token:
    """A token: ``kind`` is symbol, word, quoted or end; ``at`` is its first character, from 1."""

    kind: str
    text: str
    at: int

    def is_word(self, word: str) -> bool:
        return self.kind == "word" and self.text.lower() == word

    def is_symbol(self, symbol: str) -> bool:
        return self.kind == "symbol" and self.text == symbol


def _tokens(text: str) -> Iterator[_Token]:
    position, end = 0, len(text.rstrip())
    while position < end:
        match = _TOKEN.match(text, position)
        if match is None:
            at = position + len(text[position:]) - len(text[position:].lstrip())
            hint = "a quote is not closed" if text[at] in "\"'" else "write != or not"
            raise UsageError(f"the filter cannot be read at character {at + 1} ('{text[at]}'): {hint}")
        kind = str(match.lastgroup)
        inside = match[kind]
        if kind in ("double", "single"):
            kind, inside = "quoted", re.sub(r"\\(.)", r"\1", inside, flags=re.DOTALL)
        yield _Token(kind=kind, text=inside, at=match.end() - len(match[0].lstrip()) + 1)
        position = match.end()
    yield _Token(kind="end", text="", at=end + 1)


class _Parser:
    """A recursive descent parser with one method per grammar rule."""

    def __init__(self, tokens: list[_Token]) -> None:
        self._tokens = tokens
        self._next = 0

    def parse(self) -> Filter:
        if self._peek.kind == "end":
            raise UsageError("the filter is empty; write one such as: language = de and kind = pdf")
        where = self._either(0)
        if self._peek.kind != "end":
            self._fail("'and', 'or' or the end is expected; put text of several words in quotes")
        return where

    def _either(self, depth: int) -> Filter:
        parts = [self._both(depth)]
        while self._takes_word("or"):
            parts.append(self._both(depth))
        return parts[0] if len(parts) == 1 else Or(parts=tuple(parts))

    def _both(self, depth: int) -> Filter:
        parts = [self._one(depth)]
        while self._takes_word("and"):
            parts.append(self._one(depth))
        return parts[0] if len(parts) == 1 else And(parts=tuple(parts))

    def _one(self, depth: int) -> Filter:
        if depth > MAX_DEPTH:
            self._fail(f"parentheses and 'not' nest more than {MAX_DEPTH} deep")
        if self._takes_word("not"):
            return Not(part=self._one(depth + 1))
        if self._takes_symbol("("):
            inner = self._either(depth + 1)
            if not self._takes_symbol(")"):
                self._fail("'and', 'or' or ')' is expected; put text of several words in quotes")
            return inner
        if self._takes_word("exists"):
            return Exists(key=self._key())
        return self._comparison()

    def _comparison(self) -> Filter:
        key = self._key()
        token = self._peek
        if token.kind == "symbol" and token.text in _COMPARISONS:
            self._next += 1
            return Compare(key=key, op=_COMPARISONS[token.text], value=self._value())
        if self._takes_word("in"):
            return In(key=key, values=self._values())
        if self._takes_word("not"):
            if not self._takes_word("in"):
                self._fail(f"'in' is expected after '{key} not'")
            return Not(part=In(key=key, values=self._values()))
        return self._fail(f"= != < <= > >= in or 'not in' is expected after '{key}'; or write: exists {_key(key)}")

    def _key(self) -> str:
        token = self._peek
        bare = token.kind == "word" and _KEY.fullmatch(token.text) and token.text.lower() not in _RESERVED
        if not bare and token.kind != "quoted":
            self._fail("the name of a metadata field is expected, in quotes unless made of letters, digits, _ . and -")
        self._next += 1
        return token.text

    def _values(self) -> tuple[Scalar, ...]:
        if not self._takes_symbol("("):
            self._fail("a list is expected after 'in', such as (5G, \"Press Release\")")
        values = [self._value()]
        while self._takes_symbol(","):
            values.append(self._value())
        if not self._takes_symbol(")"):
            self._fail("',' or ')' is expected; put text of several words in quotes")
        return tuple(values)

    def _value(self) -> Scalar:
        token = self._peek
        word = token.text.lower()
        if token.kind not in ("word", "quoted"):
            self._fail('a value is expected, such as de, 2020, true or "Press Release"')
        if token.kind == "word" and word in _RESERVED:
            self._fail(f'a value is expected; if the word itself is meant, write "{token.text}"')
        if token.kind == "word" and _NUMBER.fullmatch(token.text):
            return self._number()
        self._next += 1
        return _TRUTH.get(word, token.text) if token.kind == "word" else token.text

    def _number(self) -> int | float:
        text = self._peek.text
        whole = _INTEGER.fullmatch(text)
        number = int(text) if whole and len(text) <= 20 else float(text)
        # Indexes hold 64-bit integers; a rounded one would match other values.
        if not (-(2**63) <= number < 2**63 if whole else math.isfinite(number)):
            self._fail(f'the number is too large; if text is meant, write "{text}"')
        self._next += 1
        return number

    @property
    def _peek(self) -> _Token:
        return self._tokens[self._next]

    def _takes_word(self, word: str) -> bool:
        taken = self._peek.is_word(word)
        self._next += taken
        return taken

    def _takes_symbol(self, symbol: str) -> bool:
        taken = self._peek.is_symbol(symbol)
        self._next += taken
        return taken

    def _fail(self, hint: str) -> NoReturn:
        token = self._peek
        where = "at its end" if token.kind == "end" else f"at character {token.at} ('{token.text}')"
        raise UsageError(f"the filter cannot be read {where}: {hint}")
