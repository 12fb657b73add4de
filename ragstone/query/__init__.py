"""Query: a question to candidates, the chunks that might answer it.

A question is understood (`understand`), searched for by several legs (`gather`), and their results are fused (`fuse`).
To add a fusion rule, see `ragstone.query.fuse`.
"""

from ragstone.query.analysis import KINDS, analyse, kind
from ragstone.query.follow_up import rewritten, standalone
from ragstone.query.fuse import Fused, fuse
from ragstone.query.gather import above, allocate, by_document, gather, leg_of, variation_legs
from ragstone.query.understand import understand
from ragstone.query.web import build_web_search, why_search, with_web
from ragstone.query.where import describe, parse, refuse_unknown_fields

__all__ = [
    "KINDS",
    "Fused",
    "above",
    "allocate",
    "analyse",
    "build_web_search",
    "by_document",
    "describe",
    "fuse",
    "gather",
    "kind",
    "leg_of",
    "parse",
    "refuse_unknown_fields",
    "rewritten",
    "standalone",
    "understand",
    "variation_legs",
    "why_search",
    "with_web",
]
