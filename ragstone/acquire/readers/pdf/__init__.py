"""PDF: pages as lines of words, and the headings, lists and tables that they form."""
