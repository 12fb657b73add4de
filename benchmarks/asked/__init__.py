"""Fifty questions as users type them, ten of each preset, asked of the data of its kind and judged by what is known."""
