"""mdoc(7), the macros of BSD's manual pages: the words of a line, with the punctuation that its macros stand for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import takewhile

_PAIRS = {
    "A": ("<", ">"), "B": ("[", "]"), "Br": ("{", "}"), "D": ("“", "”"), "O": ("[", "]"), "P": ("(", ")"),
    "Q": ('"', '"'), "S": ("‘", "’"),
}  # fmt: skip
_ENCLOSING = {f"{name}q": pair for name, pair in _PAIRS.items()} | {"Op": ("[", "]"), "Ql": ("‘", "’")}
_OPENING = {f"{name}o": pair[0] for name, pair in _PAIRS.items()}
_CLOSING = {f"{name}c": pair[1] for name, pair in _PAIRS.items()}
_SYSTEMS = {"Bsx": "BSD/OS", "Dx": "DragonFly", "Fx": "FreeBSD", "Nx": "NetBSD", "Ox": "OpenBSD", "Ux": "UNIX"}
_ALONE = {"Ar": "file ...", "At": "AT&T UNIX", "Bx": "BSD", "Mt": "~", "Pa": "~"}
"""What macros without words of their own stand for."""
_OTHERS = (
    "Ad An Ap Cd Cm Dv Em Er Ev Fa Fc Fd Fl Fn Fo Fr Ft Ic In Lb Li Lk Ms Nm No Ns Pf St Sx Sy Ta Tn Va Vt Xc Xo Xr"
)
INLINE = frozenset([*_OTHERS.split(), *_ALONE, *_SYSTEMS, *_ENCLOSING, *_OPENING, *_CLOSING])
"""Macros that may stand within a line."""
_AFTER, _BEFORE = frozenset(".,:;)]?!"), frozenset("([")


@dataclass(slots=True, kw_only=True)
class Words:
    """The words of a line as they come.

    ``glued`` says that the next word follows without a space, ``spaced`` that words have spaces in between, ``terms``
    how many terms of a list go on in the next line, and ``function`` what comes before the next argument of a function.
    """

    pieces: list[str] = field(default_factory=list[str])
    glued: bool = False
    spaced: bool = True
    terms: int = 0
    function: str = ""

    def put(self, word: str, *, glued: bool = False) -> None:
        """Add a word. ``glued`` says that it follows without a space."""
        if self.pieces and not self.glued and not glued:
            self.pieces.append(" ")
        self.pieces.append(word)
        self.glued = not self.spaced

    def taken(self) -> str:
        """Return the line, and begin another."""
        line = "".join(self.pieces)
        self.pieces, self.glued = [], False
        return line


def write(tokens: Sequence[str], words: Words, name: str, plain: Callable[[str], str]) -> None:
    """Add the words of a line of macros.

    Args:
        tokens: words, and the names of macros before what they apply to.
        words: the line so far.
        name: what the page is about, for ``.Nm`` without a name.
        plain: returns a text without escapes.
    """
    end = len(tokens)
    while end > 1 and tokens[end - 1] in _AFTER:
        end -= 1
    calls = [[""]]
    for token in tokens[:end]:
        if token in INLINE:
            calls.append([token])
        else:
            calls[-1].append(token)
    for macro, *given in calls:
        for word in _begun(macro, given, words, name):
            words.put(plain(word), glued=word in _AFTER)
            words.glued = words.glued or word in _BEFORE
        # A dash, and what has to stand before a word, belong to the word of the next macro.
        words.glued = words.glued or (macro == "Fl" and not given) or (macro == "Pf" and len(given) == 1)
    for macro, *_ in reversed(calls):
        if macro in _ENCLOSING:
            words.put(_ENCLOSING[macro][1], glued=True)
    for mark in tokens[end:]:
        words.put(mark, glued=True)


def _begun(macro: str, given: list[str], words: Words, name: str) -> list[str]:
    """Begin the words of a macro, and return the others."""
    own = [*takewhile(lambda word: word not in _AFTER, given)]
    rest = given[len(own) :]
    match macro:
        case "Fl":
            return [word if word in _AFTER or word == "|" else f"-{word}" for word in given or [""]]
        case "Nm" if not own:
            return [name, *rest]
        case "Xr" if len(own) > 1:
            return [f"{own[0]}({own[1]})", *own[2:], *rest]
        case "Fn" if own:
            return [f"{own[0]}({', '.join(own[1:])})", *rest]
        case "Fa":
            if words.function == ",":
                words.put(",", glued=True)
            words.function = words.function and ","
            return [", ".join(own), *rest]
        case "Fo":
            words.put(f"{' '.join(own)}(")
            words.glued, words.function = True, "("
            return rest
        case "In":
            return [f"<{' '.join(own)}>", *rest]
        case "Lk" if len(own) > 1:
            return [*own[1:], f"<{own[0]}>", *rest]
        case "St":
            return [word.replace("-p", "POSIX.", 1) for word in given]
        case "Bx" if own:
            return [f"{own[0]}BSD", *own[1:], *rest]
        case "Pf" if own:
            words.put(own[0])
            words.glued = True
            return [*own[1:], *rest]
        case "Ns" | "Ap" | "Ta" | "Fc":
            if macro != "Ns":
                words.put({"Ap": "'", "Ta": "\t", "Fc": ")"}[macro], glued=True)
            words.function = "" if macro == "Fc" else words.function
            words.glued = macro != "Fc"
        case "Xo" | "Xc":
            words.terms += 1 if macro == "Xo" else -1
        case _ if macro in _SYSTEMS:
            return [_SYSTEMS[macro], *given]
        case _ if macro in _ALONE and not own:
            return [_ALONE[macro], *rest]
        case _ if macro in _ENCLOSING or macro in _OPENING:
            words.put(_ENCLOSING[macro][0] if macro in _ENCLOSING else _OPENING[macro])
            words.glued = True
        case _ if macro in _CLOSING:
            words.put(_CLOSING[macro], glued=True)
        case _:
            pass
    return given
