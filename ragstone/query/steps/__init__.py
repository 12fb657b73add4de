"""Questions that need several passages: what the first search leaves open, and which passages lead on."""

from ragstone.query.steps.joining import Candidate, Chosen, Joining, Link
from ragstone.query.steps.names import Mentions, content, names, words
from ragstone.query.steps.parts import Part, parts_of
from ragstone.query.steps.passages import Passage, Sentence, Weighed, leading_names, leaves_open
from ragstone.query.steps.planned import planned

__all__ = [
    "Candidate",
    "Chosen",
    "Joining",
    "Link",
    "Mentions",
    "Part",
    "Passage",
    "Sentence",
    "Weighed",
    "content",
    "leading_names",
    "leaves_open",
    "names",
    "parts_of",
    "planned",
    "words",
]
