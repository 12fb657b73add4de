"""Prompt templates, one YAML file for each kind of assistant."""
