"""Built-in presets."""
