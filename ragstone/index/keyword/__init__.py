"""Text to terms, and BM25 over them. Which chunks have the words, in whatever form?"""
