"""Pictures that show text, and drawing them for people."""
