"""Quoting: the sentences of the documents that answer, as they stand, and how surely they do."""
