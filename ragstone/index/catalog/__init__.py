"""The catalog: documents, chunks and vectors in one SQLite database, and its folder. What is true?"""
