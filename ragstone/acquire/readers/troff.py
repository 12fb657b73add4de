"""troff, the language of manual pages: conditions, strings and macros of a page, and the characters of its escapes."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence

_NAMED = (
    "aq' dq\" lq“ rq” oq‘ cq’ Lq“ Rq” Bq„ bq‚ Fo« Fc» fo‹ fc› ga` aa´ ha^ ti~ rs\\ sl/ ba| or| bv| br| sh# Do$ "
    "at@ lB[ rB] lC{ rC} la⟨ ra⟩ hy- mi− en– em— bu• ci○ sq□ dg† dd‡ sc§ ps¶ ct¢ Eu€ eu€ Po£ Ye¥ co© rg® tm™ de° "
    "mu× di÷ pl+ +-± eq= ==≡ <=≤ >=≥ !=≠ ~~≈ ap∼ pc· md⋅ ul_ ru_ ->→ <-← <>↔ ua↑ da↓ rA⇒ lA⇐ if∞ sr√ mo∈ OK✓ fm′ "
    "sd″ 12½ 14¼ 34¾ S1¹ S2² S3³ ssß aeæ AEÆ oeœ OEŒ o/ø O/Ø oAå oaå /lł /LŁ -DÐ Sdð TPÞ Tpþ r!¡ r?¿ Ofª Omº Lt< "
    'Gt> Le≤ Ge≥ Ne≠ Am& Ba| Tm™ Pm± R® q"'
)
_CHARACTERS = {pair[:-1]: pair[-1] for pair in _NAMED.split()}
"""Named characters, and the strings that man(7) and mdoc(7) define."""
_ACCENTS = {"'": "\u0301", "`": "\u0300", "^": "\u0302", "~": "\u0303", ":": "\u0308", ",": "\u0327", "o": "\u030a"}
_GREEK = str.maketrans("ABGDEZYHIKLMNCOPRSTUFXQWabgdezyhiklmncoprstufxqw",
                       "ΑΒΓΔΕΖΗΘΙΚΛΜΝΞΟΠΡΣΤΥΦΧΨΩαβγδεζηθικλμνξοπρστυφχψω")  # fmt: skip
_LETTERS = {"e": "\\", "E": "\\", "0": " ", "~": " ", "t": "\t", "a": "\t"}
"""Escapes of one character that give another; those of `_NOTHING` give nothing, and others themselves."""
_NOTHING = "&|^%:/,)!?{}cdurpz"
_ESCAPE = re.compile(
    r"""\\(?:
        [fFmMgkVYO$] (?:\(..|\[[^\]]{0,60}\]|.)
      | s (?:[+-]?(?:\(..|\[[^\]]{0,9}\]|'[^']{0,9}')|\([+-]\d\d|[+-]\d|[1-3]\d|\d)
      | (?P<value>\*|n[+-]?) (?P<key>\(..|\[[^\]]{0,60}\]|.)
      | (?P<motion>[hvwlLDoXAbBRZxHSNC]) '(?P<inside>[^']{0,200})'
      | \((?P<two>..) | \[(?P<long>[^\]]{0,60})\]
      | (?P<one>.?)
    )""",
    re.VERBOSE,
)
_COMMENT = re.compile(r"((?:^|[^\\])(?:\\\\)*)\\[\"#].*")
_CONTROL = re.compile(r"[.'][ \t]*((?:(?!\\)\S)*)[ \t]*(.*)")
_CONDITION = re.compile(
    r"(!*)[ \t]*(?:([ntoev])(?![\w'.])|([dr])[ \t]*((?:(?!\\\{)\S)+)|"
    r"(['\"])((?:(?!\5).){0,200})\5((?:(?!\5).){0,200})\5|((?:(?!\\\{)\S)*))"
    r"[ \t]*(.*)"
)
_COMPARISON = re.compile(r"\(?(-?\d{1,9})(?:([<>]=?|==?)(-?\d{1,9}))?\)?", re.ASCII)
_ARGUMENT = re.compile(r'"([^"]*(?:""[^"]*)*)"?|((?:\\.|[^ \\])+|\\)')
_PARAMETER = re.compile(r"\\\$(?:([1-9*@])|\[([1-9*@])\])")
_KEPT = ("TH", "SH", "SS", "TP", "IP", "Dd", "Dt", "Sh", "Ss", "Bl", "It", "El", "TS", "TE")
"""Macros that a page cannot redefine, because we would no longer see its headings, terms and tables."""
_LONGEST_STRING = 200
_MOST_EXPANDED = 1_000_000
"""Characters that conditions, strings and macros may add to a page: a small page can define a bomb."""


def arguments(rest: str) -> list[str]:
    r"""Return the arguments of a macro. A quoted one begins with ``\&``, so that it is no macro itself."""
    found = _ARGUMENT.findall(rest)
    return [words if words else "\\&" + quoted.replace('""', '"') for quoted, words in found]


class Troff:
    """A page in troff. `lines` resolves what depends on other lines, and `plain` the escapes of one."""

    def __init__(self, text: str) -> None:
        self._todo = text.split("\n")[::-1]
        self._strings: dict[str, str] = {}
        self._numbers = {".g": 1}
        self._macros: dict[str, list[str]] = {}
        self._otherwise: list[bool] = []
        self._left = _MOST_EXPANDED

    def lines(self) -> Iterator[str]:
        """Yield the lines of the page: text, and calls of macros that it does not define itself."""
        while self._todo:
            line = self._next()
            if not (found := _CONTROL.match(line)):
                yield line
            elif self._is_passed_on(found[1].replace("\\}", ""), found[2]):
                yield line.replace("\\}", "")

    def plain(self, text: str) -> str:
        """Return a text with characters in place of escapes."""
        return _ESCAPE.sub(self._characters, text) if "\\" in text else text

    def _next(self) -> str:
        """Return the next line without its comment, joined with those that it goes on in."""
        parts: list[str] = []
        while self._todo:
            written = self._todo.pop()
            line = _COMMENT.sub(r"\1", written) if "\\" in written else written
            goes_on = line == written and (len(line) - len(line.rstrip("\\"))) % 2 == 1
            # A comment on a line of its own leaves no blank line.
            parts.append(line[:-1] if goes_on else line or ("." if written else ""))
            if not goes_on:
                break
        return "".join(parts)

    def _is_passed_on(self, name: str, rest: str) -> bool:
        """Carry out a request, and return whether it is a call for the reader of the page."""
        match name:
            case "" | "\\":
                pass
            case "if" | "ie":
                holds, rest = self._condition(rest)
                if name == "ie" and len(self._otherwise) < 100:
                    self._otherwise.append(not holds)
                self._guard(rest, holds)
            case "el":
                self._guard(rest, self._otherwise.pop() if self._otherwise else False)
            case "ds" | "as":
                key, _, value = rest.partition(" ")
                before = self._strings.get(key, "") if name == "as" else ""
                value = before + self.plain(value.lstrip().removeprefix('"'))
                self._strings[key] = value[:_LONGEST_STRING]
            case "nr":
                key, value = (*rest.split(), "", "")[:2]
                if re.fullmatch(r"[+-]?\d{1,6}", value, re.ASCII):
                    before = self._numbers.get(key, 0) if value[0] in "+-" else 0
                    self._numbers[key] = before + int(value)
            case "de" | "de1" | "am" | "am1" | "ig":
                key, end = (*rest.split(), "", "")[:2] if name != "ig" else ("", rest)
                body = self._until(f".{end or '.'}")
                if name in ("de", "de1") and key not in _KEPT:
                    self._macros[key] = body
                elif name in ("am", "am1") and key in self._macros:
                    self._macros[key].extend(body)
            case "als":
                key, other = (*rest.split(), "", "")[:2]
                if other in self._macros and key not in _KEPT:
                    self._macros[key] = self._macros[other]
            case known if known in self._macros:
                self._expand(self._macros[known], arguments(rest))
            case _:
                return True
        return False

    def _condition(self, rest: str) -> tuple[bool, str]:
        """Return whether a condition holds for a terminal, and what it guards."""
        found = _CONDITION.match(rest)
        if found is None:
            return False, ""
        negated, letter, kind, key, quote, one, other, number, guarded = found.groups()
        if letter:
            holds = letter in "no"
        elif kind:
            holds = key in (self._strings | self._macros if kind == "d" else self._numbers)
        elif quote:
            holds = self.plain(one) == self.plain(other)
        else:
            compared = _COMPARISON.fullmatch(self.plain(number))
            left, sign, right = compared.groups() if compared else ("0", None, None)
            one, other = int(left), int(right or 0)
            holds = {
                None: one > 0, "=": one == other, "==": one == other, "<": one < other, ">": one > other,
                "<=": one <= other, ">=": one >= other,
            }[sign]  # fmt: skip
        return holds != (len(negated) % 2 == 1), guarded

    def _guard(self, rest: str, holds: bool) -> None:
        """Go on with what a condition guards if it holds, or else skip it to the end of its block."""
        if holds and self._left > 0:
            self._left -= len(rest)
            self._todo.append(rest.lstrip().removeprefix("\\{").lstrip() or ".")
        if holds:
            return
        depth = rest.count("\\{") - rest.count("\\}")
        while depth > 0 and self._todo:
            line = self._next()
            depth += line.count("\\{") - line.count("\\}")

    def _until(self, end: str) -> list[str]:
        body: list[str] = []
        while self._todo and (line := self._todo.pop()).replace(" ", "").rstrip() != end:
            body.append(line)
        return body

    def _expand(self, body: Sequence[str], given: Sequence[str]) -> None:
        """Put the lines of a macro before the others, with what it is given in place of its parameters."""
        if self._left <= 0:
            return
        self._left -= sum(map(len, body)) + len(body)

        def value(found: re.Match[str]) -> str:
            which = found[1] or found[2]
            words = " ".join(given) if which in "*@" else given[int(which) - 1] if int(which) <= len(given) else ""
            self._left -= len(words)
            return words if self._left > 0 else ""

        for line in reversed(body):
            line = line.replace("\\\\", "\\").replace("\\n(.$", str(len(given))).replace("\\n[.$]", str(len(given)))
            self._todo.append(_PARAMETER.sub(value, line))

    def _characters(self, found: re.Match[str]) -> str:
        if (one := found["one"]) is not None:
            return "" if one in _NOTHING else _LETTERS.get(one, one or "")
        if name := found["two"] or found["long"]:
            return _character(name)
        if kind := found["value"]:
            key = found["key"]
            key = key[1:3] if key[0] == "(" else key[1:-1] if key[0] == "[" else key
            if kind == "*":
                value = self._strings.get(key, _CHARACTERS.get(key, ""))
            else:
                self._numbers[key] = self._numbers.get(key, 0) + {"n": 0, "n+": 1, "n-": -1}[kind]
                value = str(self._numbers[key])
            self._left -= len(value)
            return value if self._left > 0 else ""
        inside = found["inside"] or ""
        match found["motion"]:
            case "h":
                return " " if inside and not inside.startswith("-") else ""
            case "C":
                return _character(inside)
            case "N":
                return _character(f"char{inside}")
            case "o" | "Z":
                return inside[:1]
            case _:
                return ""


def _character(name: str) -> str:
    """Return the character of a name; the name itself if nothing has it."""
    if name in _CHARACTERS:
        return _CHARACTERS[name]
    if found := re.fullmatch(r"u([0-9A-F]{4,6})(?:_([0-9A-F]{4,6}))?|char(\d{1,7})", name, re.ASCII):
        codes = [int(found[3])] if found[3] else [int(code, 16) for code in found.groups() if code]
        return unicodedata.normalize("NFC", "".join(chr(code) for code in codes if code < 0x110000))
    if len(name) == 2 and name[0] == "*":
        return name[1].translate(_GREEK)
    if len(name) == 2 and name[0] in _ACCENTS and name[1].isalpha():
        return unicodedata.normalize("NFC", name[1] + _ACCENTS[name[0]])
    return name if len(name) == 1 else ""
