"""Writes the word lists that compounds are split by: ragstone/index/terms/words/compounds_*.txt.gz.

    pip install wordfreq; python tools/compound_words.py

The words come from wordfreq (Robyn Speer), whose data are licensed under CC BY-SA 4.0; so is what is written here.
"""

from __future__ import annotations

import gzip
from pathlib import Path

from wordfreq import get_frequency_dict

RAREST = 3e-6
"""A part must be at least so frequent: rarer words are mostly compounds themselves, names or errors."""
SHORTEST = 4
FOLDER = Path(__file__).parent.parent / "ragstone" / "index" / "words"
HEAD = "# German words by frequency, from wordfreq (Robyn Speer). CC BY-SA 4.0."


def main() -> None:
    frequency = get_frequency_dict("de", wordlist="best")
    words = [word for word, share in frequency.items() if share >= RAREST and len(word) >= SHORTEST and word.isalpha()]
    words.sort(key=lambda word: (-frequency[word], word))
    text = "\n".join([HEAD, *words])
    packed = gzip.compress(text.encode(), mtime=0)
    (FOLDER / "compounds_de.txt.gz").write_bytes(packed)
    print(f"{len(words)} words, {len(packed) / 1e3:.0f} kB")


if __name__ == "__main__":
    main()
