"""Restore the diacritics of a question typed without them: ``kur gauti kortele`` becomes ``kur gauti kortelę``.

The candidates of a word are its spellings in a frequency list. For a word that is not in the list they are what the
neighbouring letters suggest, by the longest known context (IGTree: Daelemans, van den Bosch and Weijters 1997), and its
other endings. Candidates are chosen from left to right by their frequency and by the surrounding words: the endings of
a candidate, of the restored word before it and of the bare word after it, with weights of an averaged perceptron
(Collins 2002). ``tools/train_diacritics.py`` creates the data and names its sources.
"""

from __future__ import annotations

import gzip
import math
import re
import unicodedata
from array import array
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from importlib.resources import files
from itertools import accumulate

from ragstone.core.frozen import frozen

CAUTION, UNLISTED_CAUTION = 2.5, 4.0
"""Log odds in favour of a word as it is typed, if the frequency list has it, and if not.

On held-out documents, 93.0% of the words are right and 0.45% were right before and are changed; with 0.5 and 0.5 these
are 94.3% and 1.07%. The typed question is searched for as well, so a mark that is not restored costs little, while a
wrong one may find the wrong documents. Names that are not listed stay as typed.
"""
_TOKEN = re.compile(r"[^\W_]+|[^\w\s]")
_UNLISTED, _OTHER_ENDING = 0.3, 0.05
"""Frequencies, per million, of a spelling suggested by letters, and of other endings."""
_SHORTEST_REST = 5
"""Letters that a word must have without its prefix."""
_REACH = 6
"""Letters of context on each side."""
_RARE = 20.0
"""Frequency, per million, below which the list may lack a spelling of the word."""


@frozen
class Spellings:
    """The data of a language.

    ``words`` maps a bare word to its spellings and their frequencies per million, ``letters`` a context to a letter,
    ``weights`` a feature to its weight, and ``endings`` a last letter to the letters it may stand for. ``common`` are
    words whose neighbours are weighed as a whole, ``marked`` the letters with diacritics. ``prefixes`` make new
    words.
    """

    words: Mapping[str, Mapping[str, float]]
    letters: Mapping[str, str]
    weights: Mapping[str, float]
    endings: Mapping[str, str]
    common: frozenset[str]
    marked: frozenset[str]
    prefixes: tuple[str, ...] = ()


class FrequencyList(Mapping[str, Mapping[str, float]]):
    """Maps a bare word to its spellings and their frequencies per million, in a tenth of the memory of a dictionary.

    Args:
        frequencies: each spelling with ten times the logarithm of its frequency, as text.
    """

    def __init__(self, frequencies: Iterable[tuple[str, str]]) -> None:
        lines = sorted(f"{bare(word)}\t{word}\t{value}".encode() for word, value in frequencies)
        self._text = b"\n".join(lines)
        self._ends = array("I", accumulate(len(line) + 1 for line in lines))

    def __getitem__(self, word: str) -> Mapping[str, float]:
        wanted, shares = f"{word}\t".encode(), dict[str, float]()
        for at in range(bisect_left(range(len(self._ends)), wanted, key=self._line), len(self._ends)):
            line = self._line(at)
            if not line.startswith(wanted):
                break
            _, spelling, value = line.decode().split("\t")
            shares[spelling] = math.exp(float(value) / 10)
        if not shares:
            raise KeyError(word)
        return shares

    def __iter__(self) -> Iterator[str]:
        lines = (self._line(at) for at in range(len(self._ends)))
        return iter(dict.fromkeys(line.partition(b"\t")[0].decode() for line in lines))

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def _line(self, at: int) -> bytes:
        return self._text[self._ends[at - 1] if at else 0 : self._ends[at] - 1]


def bare(text: str) -> str:
    """Return the text without diacritics, letter for letter."""
    return "".join(c for c in unicodedata.normalize("NFD", text) if not unicodedata.combining(c))


def contexts(word: str, at: int) -> Iterator[str]:
    """Yield the letter at a position with growing context on both sides."""
    padded, middle, left, right = f"{'_' * _REACH}{word}{'_' * (_REACH + 1)}", at + _REACH, 0, 0
    yield word[at]
    for side in "RL" * _REACH:
        left, right = left + (side == "L"), right + (side == "R")
        yield f"{padded[middle - left : middle]}|{padded[middle : middle + right + 1]}"


def by_letters(word: str, letters: Mapping[str, str]) -> str:
    """Return the spelling suggested by the longest known context of each letter."""
    spelt: list[str] = []
    for at, letter in enumerate(word):
        for context in contexts(word, at):
            letter = letters.get(context, letter)
        spelt.append(letter)
    return "".join(spelt)


def is_word(word: str, known: Spellings) -> bool:
    """Return whether a bare lower-case word is listed, or a listed one with a prefix."""
    return word in known.words or bool(_prefixed(word, known))


def _prefixed(word: str, listed: Spellings) -> dict[str, float]:
    """Return the spellings of an unlisted bare word that is a listed one with a prefix."""
    spellings: dict[str, float] = {}
    for prefix in listed.prefixes:
        rest = word[len(prefix) :]
        if len(rest) >= _SHORTEST_REST and word.startswith(bare(prefix)):
            spellings |= {
                prefix + spelling: min(share, _UNLISTED) for spelling, share in listed.words.get(rest, {}).items()
            }
    return spellings


def candidates(word: str, listed: Spellings) -> dict[str, float]:
    """Return spellings of a bare lower-case word with their frequencies per million."""
    spellings = dict(listed.words.get(word, {})) or _prefixed(word, listed)
    if not spellings:
        spellings = {by_letters(word, listed.letters): _UNLISTED}
    if len(word) > 3 and sum(spellings.values()) < _RARE:
        for spelling in list(spellings):
            for ending in listed.endings.get(word[-1], ""):
                spellings.setdefault(spelling[:-1] + ending, _OTHER_ENDING)
    return spellings


def features(spelling: str, before: Sequence[str], behind: Sequence[str], common: frozenset[str]) -> list[str]:
    """Return the features of a candidate between the two restored words before it and the two bare words after it."""
    second, first = before
    third, fourth = behind
    last, ending = spelling[-1:], spelling[-2:]
    out = [
        f"1{ending}|{first[-2:]}",
        f"2{ending}|{third[-2:]}",
        f"3{last}|{first[-3:]}",
        f"4{last}|{third[-3:]}",
        f"5{spelling[-3:]}",
        f"6{last}{first[-1:]}{third[-1:]}",
        f"7{last}{second[-2:]}|{first[-1:]}",
        f"8{last}{third[-1:]}|{fourth[-2:]}",
        f"e{spelling[-3:]}|{first[-3:]}",
        f"f{spelling[-3:]}|{third[-3:]}",
        f"g{ending}{first[-2:]}|{third[-2:]}",
        f"h{ending}|{second if len(second) <= 4 else second[-2:]}",
    ]
    if first in common or len(first) <= 4:
        out.append(f"9{ending}|{first}")
    if third in common or len(third) <= 4:
        out.append(f"a{ending}|{third}")
    if spelling in common:
        out += [f"b{spelling}", f"c{spelling}|{first[-2:]}", f"d{spelling}|{third[-2:]}"]
    return out


def scores(word: str, before: Sequence[str], behind: Sequence[str], known: Spellings) -> dict[str, float]:
    """Return how well each candidate of a bare word fits its context."""
    return {
        spelling: math.log(frequency)
        + sum(known.weights.get(f, 0.0) for f in features(spelling, before, behind, known.common))
        for spelling, frequency in candidates(word, known).items()
    }


def choose(words: Sequence[str], spellings: Spellings, names: frozenset[int] = frozenset()) -> list[str]:
    """Return the likeliest spelling of each bare lower-case word; unlisted words at the places ``names`` stay."""
    chosen = ["<", "<"]
    padded = [*words, ">", ">"]
    for at, word in enumerate(words):
        listed = word in spellings.words
        if not word.isalpha() or (at in names and not listed):
            chosen.append(word)
            continue
        found = scores(word, chosen[-2:], padded[at + 1 : at + 3], spellings)
        if word in found:
            found[word] += CAUTION if listed else UNLISTED_CAUTION
        chosen.append(max(found, key=lambda spelling: (found[spelling], spelling)))
    return chosen[2:]


def restore(text: str, spellings: Spellings, keep: frozenset[str] = frozenset()) -> str:
    """Return the text with its diacritics restored.

    A text with any diacritics is returned unchanged, because its author could have typed all of them. Words with
    digits, words in ``keep`` (lower case), acronyms, and parts of identifiers and addresses are kept.
    """
    if spellings.marked & frozenset(text.lower()):
        return text
    tokens = list(_TOKEN.finditer(text))
    words = [one.group().lower() for one in tokens]
    pieces, end, shouted = list[str](), 0, text.isupper()
    names = frozenset(at for at, one in enumerate(tokens) if at and one.group()[0].isupper() and not shouted)
    for token, word, spelling in zip(tokens, words, choose(words, spellings, names), strict=True):
        typed = token.group()
        acronym = typed.isupper() and not shouted and len(typed) > 1
        stays = not typed.isascii() or word in keep or acronym or _is_joined(text, token.start(), token.end())
        pieces += [
            text[end : token.start()],
            typed if stays or len(spelling) != len(typed) else _cased(spelling, typed),
        ]
        end = token.end()
    return "".join([*pieces, text[end:]])


@cache
def shipped(language: str) -> Spellings | None:
    """Return the data shipped for a language, or None."""
    path = files("ragstone.query") / f"diacritics_{language}.txt.gz"
    if not path.is_file():
        return None
    return read(gzip.decompress(path.read_bytes()).decode("utf-8"))


def read(text: str) -> Spellings:
    """Parse the output of ``tools/train_diacritics.py``: sections of names, tabs and values."""
    sections: dict[str, dict[str, str]] = {}
    section: dict[str, str] = {}
    for line in text.splitlines():
        if not sections and line.startswith("#"):
            continue
        if line.startswith("["):
            section = sections.setdefault(line.strip("[]"), {})
            continue
        name, _, value = line.partition("\t")
        section[name] = value
    marks = set(sections["letters"].values())
    return Spellings(
        words=FrequencyList(sections.pop("words").items()),
        letters=sections["letters"],
        weights={name: float(value) / 100 for name, value in sections["weights"].items()},
        endings=sections["endings"],
        common=frozenset(sections["common"]),
        prefixes=tuple(sections.get("prefixes", ())),
        marked=frozenset(
            letter for letter in set("".join(sections["endings"].values())) | marks if bare(letter) != letter
        ),
    )


def _is_joined(text: str, start: int, end: int) -> bool:
    """Return whether a word is part of an identifier or an address."""
    around = text[max(0, start - 1) : start] + text[end : end + 1]
    if any(sign in "_@/\\:#=<>" for sign in around):
        return True
    return (text[end : end + 1] == "." and text[end + 1 : end + 2].isalnum()) or text[max(0, start - 1) : start] == "."


def _cased(spelling: str, typed: str) -> str:
    return "".join(new.upper() if old.isupper() else new for new, old in zip(spelling, typed, strict=True))
