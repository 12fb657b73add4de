"""Which language a text is in."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from types import MappingProxyType
from typing import TYPE_CHECKING

from ragstone.acquire.facts import words

if TYPE_CHECKING:
    from py3langid.langid import LanguageIdentifier

_ENOUGH = 300
"""Characters that are looked at: more cost time and changed no result on the texts measured."""
_SURE = 0.2
"""Names, numbers and code score below; of short questions hardly any."""


_RARE = 0.01
"""What a language counts that has no share of the prior: enough for a question that is surely in it."""


def detect(text: str, prior: Mapping[str, float] = MappingProxyType({})) -> str:
    """The language of a text as an ISO 639-1 code; empty where the text does not tell.

    Args:
        text: its beginning is looked at.
        prior: how likely each language is before the text is read; a question is mostly in a language of the
            documents, and often too short to tell by itself. Without one, all are as likely.

    The languages known are those of ``words/languages.txt``. Dialects and small languages are left out, for
    short questions would be taken for them.
    """
    if prior:
        found = (
            (code, float(share) * (prior.get(code, 0.0) + _RARE)) for code, share in _identifier().rank(text[:_ENOUGH])
        )
        return max(found, key=lambda one: one[1])[0]
    language, probability = _identifier().classify(text[:_ENOUGH])
    return language if probability >= _SURE else ""


@cache
def _identifier() -> LanguageIdentifier:
    # Imported when first needed: the model takes over half a second and 110 MB of memory.
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    identifier = LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
    identifier.set_languages(" ".join(words.lines("languages.txt")).split())
    return identifier
