"""Readers: a file of each kind to the documents in it. What does this format say?"""
