"""A question -> candidates. Which chunks might answer it?"""

from ragstone.query.analysis import KINDS, analyse, kind
from ragstone.query.follow_up import standalone
from ragstone.query.fuse import Fused, fuse
from ragstone.query.gather import above, allocate, beside, gather, leg_of
from ragstone.query.rewrite import rewritten
from ragstone.query.understand import understand
from ragstone.query.web import build_web_search, why_search, with_web
from ragstone.query.where import describe, parse

__all__ = [
    "KINDS",
    "Fused",
    "above",
    "allocate",
    "analyse",
    "beside",
    "build_web_search",
    "describe",
    "fuse",
    "gather",
    "kind",
    "leg_of",
    "parse",
    "rewritten",
    "standalone",
    "understand",
    "why_search",
    "with_web",
]
