"""A question -> candidates. Which chunks might answer it?"""

from ragstone.query.fuse import fuse
from ragstone.query.gather import gather
from ragstone.query.where import describe, parse

__all__ = ["describe", "fuse", "gather", "parse"]
