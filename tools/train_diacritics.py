"""Train the restoration of diacritics: write ragstone/query/diacritics_lt.txt.gz.

    pip install wordfreq
    python -m tools.train_diacritics --hunspell lt_LT --sentences sentences.jsonl --laws laws.jsonl.gz [--check]

Sources for Lithuanian, and their licences:

- word frequencies: wordfreq (Robyn Speer), CC BY-SA 4.0;
- inflected forms, which train the letters around a letter: the Lithuanian dictionary for hunspell (Albertas Agejevas),
  BSD 3-Clause;
- sentences, which train the weights of context: the development parts of the treebanks UD Lithuanian ALKSNIS and HSE,
  CC BY-SA 4.0, without the fifth that ``benchmarks/language.py`` measures on;
- articles of Lithuanian laws, which train the same weights and are not protected. They are of one kind, so each
  sentence of the treebanks counts `TIMES` as much.

``--check`` trains on three quarters of the documents and measures on the fourth, in turn. Another 92,000 words of
translated program texts did not help; they are of another kind.
"""

# pyright: reportMissingImports=false
# wordfreq is installed only to run this.

from __future__ import annotations

import argparse
import gzip
import json
import math
import random
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import cast

from wordfreq import get_frequency_dict  # pyright: ignore[reportUnknownVariableType]

from benchmarks.language import document_of, is_held_out
from ragstone.query.diacritics import Spellings, bare, choose, contexts, features, read, scores

TARGET = Path(__file__).parent.parent / "ragstone" / "query" / "diacritics_lt.txt.gz"
LETTERS = "aceisuz"
ALPHABET = re.compile("[a-ząčęėįšųūž]+")
ENDINGS = {"a": "aą", "e": "eęė", "i": "iį", "u": "uų"}
TOKEN = re.compile(r"[^\W_]+|[^\w\s]")
PREFIXES = (
    *("ap", "api", "apsi", "at", "ati", "atsi", "be", "į", "įsi", "iš", "išsi", "ne", "nepa", "nepasi", "nu", "nusi"),
    *("pa", "par", "parsi", "pasi", "per", "persi", "pra", "prasi", "pri", "prisi", "su", "susi", "te", "už", "užsi"),
)
"""Verbs are built with these."""
COMMON = 1500
PARTS = 4
FORMS = 60_000
EPOCHS, RATE, MARGIN = 4, 0.15, 3.0
TIMES, SHORTEST = 10, 3
"""How often each sentence of the treebanks is used, and words that a line of a law must exceed."""
SMALLEST = 0.12
"""Smaller weights are left out."""
HEAD = """\
# How diacritics are put back into Lithuanian; made by tools/train_diacritics.py, which names the sources.
# Words by frequency from wordfreq (Robyn Speer), context from UD Lithuanian ALKSNIS, HSE and laws. CC BY-SA 4.0.
"""

Sentence = tuple[list[str], list[str]]
"""Words without diacritics, and the words as written, in lower case."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--hunspell", type=Path, required=True, help="path of the dictionary without .aff and .dic")
    parser.add_argument("--sentences", type=Path, required=True, help="JSON lines with id and text")
    parser.add_argument("--laws", type=Path, required=True, help="compressed JSON lines with question and positive")
    parser.add_argument("--check", action="store_true")
    given = parser.parse_args()
    laws = articles(given.laws)
    base = spellings(given.hunspell)
    by_document: dict[str, list[Sentence]] = defaultdict(list)
    for line in given.sentences.read_text(encoding="utf-8").splitlines():
        one = json.loads(line)
        if not is_held_out(one["id"]):
            by_document[document_of(one["id"])].append(sentence(one["text"]))
    names = sorted(by_document)
    if given.check:
        random.Random(1).shuffle(names)
        total: Counter[str] = Counter()
        for part in range(PARTS):
            known_ones = [one for at, name in enumerate(names) if at % PARTS != part for one in by_document[name]]
            unseen = [one for at, name in enumerate(names) if at % PARTS == part for one in by_document[name]]
            known = replace(base, weights=learn([*known_ones * TIMES, *laws], base))
            total += measure(unseen, known)
        words = total.pop("words")
        print({name: round(count / words, 4) for name, count in sorted(total.items())}, flush=True)
    weights = learn([*[one for name in names for one in by_document[name]] * TIMES, *laws], base)
    text = written(replace(base, weights=weights))
    TARGET.parent.mkdir(exist_ok=True)
    TARGET.write_bytes(packed := gzip.compress(text.encode(), mtime=0))
    read(text)
    print(f"{len(base.words)} bare words, {len(base.letters)} contexts, {len(weights)} weights, {len(packed)} bytes")


def spellings(hunspell: Path) -> Spellings:
    shares = cast("dict[str, float]", get_frequency_dict("lt", wordlist="best"))
    frequency = {word: share * 1e6 for word, share in shares.items() if ALPHABET.fullmatch(word)}
    words: dict[str, dict[str, float]] = defaultdict(dict)
    for word, share in frequency.items():
        words[bare(word)][word] = share
    forms, bases = expanded(hunspell)
    weighed = dict.fromkeys(random.Random(2).sample(forms, min(FORMS, len(forms))), 3.0) | dict.fromkeys(bases, 3.0)
    for word, share in frequency.items():
        weighed[word] = weighed.get(word, 0.0) + 5 + 20 * share
    return Spellings(
        words=words,
        letters=letters_of(weighed),
        weights={},
        endings=ENDINGS,
        marked=frozenset("ąčęėįšųūž"),
        prefixes=PREFIXES,
        common=frozenset(sorted(frequency, key=lambda word: -frequency[word])[:COMMON]),
    )


def expanded(hunspell: Path) -> tuple[list[str], list[str]]:
    """Return forms of a sample of a hunspell dictionary's words, without prefixed ones, and all its words."""
    suffixes: dict[str, list[tuple[str, str, re.Pattern[str]]]] = defaultdict(list)
    for line in hunspell.with_suffix(".aff").read_text(encoding="iso-8859-13").splitlines():
        parts = line.split()
        if len(parts) > 4 and parts[0] == "SFX":
            strip, add = (("" if part == "0" else part.partition("/")[0]) for part in parts[2:4])
            suffixes[parts[1]].append((strip, add, re.compile(f"{parts[4]}$")))
    forms: set[str] = set()
    lines = hunspell.with_suffix(".dic").read_text(encoding="iso-8859-13").splitlines()[1:]
    for line in random.Random(1).sample(lines, min(len(lines), 8000)):
        word, _, flags = line.partition("\t")[0].strip().lower().partition("/")
        forms.add(word)
        for flag in flags:
            for strip, add, condition in suffixes.get(flag, ()):
                if word.endswith(strip) and condition.search(word):
                    forms.add(word[: len(word) - len(strip)] + add)
    bases = [line.partition("\t")[0].strip().lower().partition("/")[0] for line in lines]
    return sorted(filter(ALPHABET.fullmatch, forms)), sorted(filter(ALPHABET.fullmatch, bases))


def letters_of(weighed: Mapping[str, float]) -> dict[str, str]:
    """Return the letter for each context that differs from what the shorter contexts predict."""
    counts: dict[str, dict[str, float]] = defaultdict(lambda: defaultdict(float))
    for word, weight in weighed.items():
        plain = bare(word)
        for at, letter in enumerate(plain):
            if letter in LETTERS:
                for context in contexts(plain, at):
                    counts[context][word[at]] += weight
    best = {context: max(count, key=lambda letter: (count[letter], letter)) for context, count in counts.items()}
    kept: dict[str, str] = {}
    for word in weighed:
        plain = bare(word)
        for at, letter in enumerate(plain):
            if letter in LETTERS:
                predicted = letter
                for context in contexts(plain, at):
                    if best[context] != predicted:
                        kept[context] = predicted = best[context]
    return kept


def sentence(text: str) -> Sentence:
    words = [word.lower() for word in TOKEN.findall(text)]
    return [bare(word) for word in words], words


def articles(path: Path) -> list[Sentence]:
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        texts = [json.loads(line)["positive"] for line in lines]
    return [sentence(line) for text in texts for line in text.splitlines() if len(line.split()) > SHORTEST]


def learn(sentences: Sequence[Sentence], known: Spellings) -> dict[str, float]:
    """Return weights of features from an averaged perceptron that also learns from too small a margin."""
    weights: dict[str, float] = defaultdict(float)
    sums: dict[str, float] = defaultdict(float)
    step = 1

    def move(of: Iterable[str], by: float) -> None:
        for feature in of:
            weights[feature] += by
            sums[feature] += by * step

    current = replace(known, weights=weights)
    order = list(sentences)
    for _ in range(EPOCHS):
        random.Random(step).shuffle(order)
        for plain, right in order:
            step += 1
            padded = ["<", "<", *right]
            behind = [*plain, ">", ">"]
            for at, word in enumerate(plain):
                if not word.isalpha():
                    continue
                found = scores(word, padded[at : at + 2], behind[at + 1 : at + 3], current)
                if len(found) < 2 or right[at] not in found:
                    continue
                rival = max((one for one in found if one != right[at]), key=lambda one: found[one])
                if found[right[at]] - found[rival] < MARGIN:
                    around = padded[at : at + 2], behind[at + 1 : at + 3]
                    share = RATE * (1.0 if found[rival] >= found[right[at]] else 0.3)
                    move(features(rival, *around, known.common), -share)
                    move(features(right[at], *around, known.common), share)
    averaged = {feature: weight - sums[feature] / step for feature, weight in weights.items()}
    return {feature: round(weight, 2) for feature, weight in averaged.items() if abs(weight) >= SMALLEST}


def measure(sentences: Sequence[Sentence], known: Spellings) -> Counter[str]:
    """Count the words, the correct ones, and the correct ones made wrong."""
    count: Counter[str] = Counter()
    for plain, right in sentences:
        for typed, chosen, word in zip(plain, choose(plain, known), right, strict=True):
            if typed.isalpha():
                count["words"] += 1
                count["right"] += chosen == word
                count["made wrong"] += chosen != word and typed == word
    return count


def written(known: Spellings) -> str:
    words = [f"{word}\t{round(10 * math.log(share))}" for some in known.words.values() for word, share in some.items()]
    sections = {
        "words": sorted(words),
        "letters": sorted(f"{context}\t{letter}" for context, letter in known.letters.items()),
        "weights": sorted(f"{feature}\t{round(100 * weight)}" for feature, weight in known.weights.items()),
        "endings": [f"{letter}\t{endings}" for letter, endings in known.endings.items()],
        "common": sorted(known.common),
        "prefixes": list(known.prefixes),
    }
    return HEAD + "".join(f"[{name}]\n" + "".join(f"{line}\n" for line in lines) for name, lines in sections.items())


if __name__ == "__main__":
    main()
