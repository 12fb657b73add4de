"""Vector search: inside the process, in FAISS, Chroma and Qdrant. Which chunks mean nearly the same?"""
