"""Read damaged files, and report what a reader must never do."""
