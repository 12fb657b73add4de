"""Text to vectors, by models that come along and by services. What does a text mean, as numbers?"""
