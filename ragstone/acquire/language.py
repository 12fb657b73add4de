"""Which language a text is in."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from ragstone.acquire import words

if TYPE_CHECKING:
    from py3langid.langid import LanguageIdentifier

_ENOUGH = 300
"""Characters that are looked at: more cost time and changed no result on the texts measured."""
_SURE = 0.2
"""Names, numbers and code score below; of short questions hardly any."""


def detect(text: str) -> str:
    """The language of a text as an ISO 639-1 code; empty where the text does not tell.

    The languages known are those of ``words/languages.txt``. Dialects and small languages are left out, for
    short questions would be taken for them.
    """
    language, probability = _identifier().classify(text[:_ENOUGH])
    return language if probability >= _SURE else ""


@cache
def _identifier() -> LanguageIdentifier:
    # Imported when first needed: the model takes over half a second and 70 MB of memory.
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    identifier = LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
    identifier.set_languages(" ".join(words.lines("languages.txt")).split())
    return identifier
