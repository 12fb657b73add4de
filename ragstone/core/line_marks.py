"""The marks of list items and headings, at the beginning of a line.

Sentences are split at them, and chunks at sentences: another mark here needs what `ragstone.chunk.sentence` says.
"""

BULLETS = r"\-*+•‣◦▪●·–"
"""The marks of list items, for a character class of a pattern."""
HASHES = "#{1,6}"
"""A pattern of the marks of Markdown headings."""
