"""PDF pages as a reader sees them: headings, running lines, the order and the words of the text."""
