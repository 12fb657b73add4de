"""The language of a text."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from types import MappingProxyType
from typing import TYPE_CHECKING, Protocol, cast

if TYPE_CHECKING:
    from collections.abc import Sequence

_KNOWN: str = """
af ar az be bg bn bs ca cs cy da de el en es et eu fa fi fr ga gl he hi hr hu hy is it ja ka kk ko lt lv mk mn ms mt nl
no pl pt ro ru sk sl sq sr sv sw ta te th tl tr uk ur uz vi zh
"""
"""The languages that are told apart, without dialects and small languages, for which short questions would be mistaken.

Malay includes Indonesian: short texts do not tell the two apart, and ISO 639 counts Indonesian as Malay.
"""
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
    identifier.set_languages(_KNOWN.split())
    return identifier
