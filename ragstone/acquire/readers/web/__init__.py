"""HTML, and formats made of it: feeds, e-books and wiki pages."""
