"""Overviews: outlines, themes, timelines, digests and comparisons, made of exact quotes."""
