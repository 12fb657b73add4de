"""Requirements: what a question fixes, such as a year or a place, and what a passage lacks of it."""
