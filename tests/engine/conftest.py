"""Tests of the engine read files."""

from kept_parsers import parsers_kept

__all__ = ["parsers_kept"]
