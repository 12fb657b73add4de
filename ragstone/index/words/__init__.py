"""Word lists of analysis."""
