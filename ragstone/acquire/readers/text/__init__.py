"""Formats that are text with marks: Markdown, reStructuredText, source code and others."""
