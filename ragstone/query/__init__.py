"""A question -> candidates. Which chunks might answer it?"""

from ragstone.query.follow_up import standalone
from ragstone.query.fuse import Fused, fuse
from ragstone.query.gather import above, allocate, gather
from ragstone.query.understand import understand
from ragstone.query.where import describe, parse

__all__ = ["Fused", "above", "allocate", "describe", "fuse", "gather", "parse", "standalone", "understand"]
