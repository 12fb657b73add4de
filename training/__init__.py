"""Training of the models that read: data, network, loop and export. See README.md in this folder."""
