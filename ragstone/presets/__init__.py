"""Presets that come with Ragstone: YAML files of settings, read by `ragstone.config`."""
