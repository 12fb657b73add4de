"""Qdrant, a server or a cluster: vectors and terms in collections of its own."""
