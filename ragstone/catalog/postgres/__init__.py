"""A catalog that several hosts share, in a schema of PostgreSQL."""
