"""The engine of a knowledge base: ingest, questions, index updates, rebuilds, backups and repairs."""
