"""The engine -> people and programs."""
