"""Write the word list that splits compounds: ragstone/index/words/compounds_de.txt.gz.

    pip install wordfreq; python tools/compound_words.py

The words come from wordfreq (Robyn Speer). Its data are licensed under CC BY-SA 4.0, and so is the list.
"""

# pyright: reportMissingImports=false
# wordfreq is installed only to run this.

from __future__ import annotations

import gzip
from pathlib import Path
from typing import cast

from wordfreq import get_frequency_dict  # pyright: ignore[reportUnknownVariableType]

RAREST = 3e-6
"""The least frequency of a part; rarer words are mostly compounds themselves, names or errors."""
SHORTEST = 4
FOLDER = Path(__file__).parent.parent / "ragstone" / "index" / "words"
HEAD = "# German words by frequency, from wordfreq (Robyn Speer). CC BY-SA 4.0."


def main() -> None:
    frequency = cast("dict[str, float]", get_frequency_dict("de", wordlist="best"))
    words = [word for word, share in frequency.items() if share >= RAREST and len(word) >= SHORTEST and word.isalpha()]
    words.sort(key=lambda word: (-frequency[word], word))
    text = "\n".join([HEAD, *words])
    packed = gzip.compress(text.encode(), mtime=0)
    (FOLDER / "compounds_de.txt.gz").write_bytes(packed)
    print(f"{len(words)} words, {len(packed) / 1e3:.0f} kB")


if __name__ == "__main__":
    main()
