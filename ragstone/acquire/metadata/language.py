"""The language of a text."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from types import MappingProxyType
from typing import TYPE_CHECKING, Protocol, cast

from ragstone.acquire.metadata import words

if TYPE_CHECKING:
    from collections.abc import Sequence

_ENOUGH = 300
"""Characters to examine: more cost time and changed no result in our measurements."""
_SURE = 0.2
"""Names, numbers and code score below this, and hardly any short question does."""
_RARE = 0.01
"""The share of a language that the prior lacks: enough for a question that is clearly in it."""


class _Identifier(Protocol):
    """The part of py3langid, which has no type stubs, that we use."""

    def rank(self, text: str) -> Sequence[tuple[str, float]]: ...

    def classify(self, text: str) -> tuple[str, float]: ...

    def set_languages(self, langs: list[str]) -> None: ...


def detect(text: str, prior: Mapping[str, float] = MappingProxyType({})) -> str:
    """Return the language of a text as an ISO 639-1 code; empty if it is not clear.

    The known languages are those in ``words/languages.txt``. It omits dialects and small languages, because short
    questions would be mistaken for them.

    Args:
        text: only its beginning is examined.
        prior: the probability of each language before the text is read. A question is usually in a language of the
            documents, and often too short to show its own. Without a prior, all languages are equally likely.
    """
    if prior:
        found = (
            (code, float(share) * (prior.get(code, 0.0) + _RARE)) for code, share in _identifier().rank(text[:_ENOUGH])
        )
        return max(found, key=lambda one: one[1])[0]
    language, probability = _identifier().classify(text[:_ENOUGH])
    return language if probability >= _SURE else ""


@cache
def _identifier() -> _Identifier:
    # Imported on first use: the model takes half a second and 110 MB of memory.
    from py3langid import langid  # pyright: ignore[reportMissingTypeStubs]

    loaded = langid.LanguageIdentifier.from_model_file(  # pyright: ignore[reportUnknownMemberType]
        langid.MODEL_FILE, norm_probs=True
    )
    identifier = cast(_Identifier, loaded)
    identifier.set_languages(" ".join(words.lines("languages.txt")).split())
    return identifier
