"""PostgreSQL: its tables and functions as SQL, and the indexes that it can hold."""
