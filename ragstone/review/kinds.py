"""What kind of question one is, by its form: enough to see for which of them a search does badly."""

from __future__ import annotations

import re

SHORT = 4
"""Words, at most, that are keywords where nothing marks them as a question."""

_WORD = re.compile(r"\w+(?:['’]\w+)?")
_ASKING = {
    "what": "what which was welche welcher welches welchen kas koks kokia kokie kokios kokį kokią ką ka apa apakah",
    "who": "who whom whose wer wen wem wessen kam kieno siapa siapakah",
    "when": "when wann kada bila bilakah",
    "where": "where wo wohin woher kur iš_kur di_mana ke_mana mana",
    "why": "why warum wieso weshalb wozu kodėl kodel dėl_ko mengapa kenapa",
    "how": "how wie wieviel kaip kiek bagaimana berapa",
}
_KIND = {word: kind for kind, words in _ASKING.items() for word in words.split()}


def kind(question: str) -> str:
    """``what``, ``who``, ``when``, ``where``, ``why`` or ``how`` by the word a question begins with, in English,
    German, Lithuanian and Malay; else ``other question``, ``keywords`` or ``statement``.
    """
    words = [word.lower() for word in _WORD.findall(question)]
    for beginning in ("_".join(words[:2]), *words[:1]):
        if beginning in _KIND:
            return _KIND[beginning]
    if question.rstrip().endswith(("?", "？", "؟")):
        return "other question"
    return "keywords" if len(words) <= SHORT else "statement"
