"""The marks at the beginning of a line, of a list item or a heading."""

BULLETS = r"\-*+•‣◦▪●·–"
"""Signs before the items of a list, for a class of characters of a pattern."""
HASHES = "#{1,6}"
"""A pattern of what is before a heading of Markdown."""
