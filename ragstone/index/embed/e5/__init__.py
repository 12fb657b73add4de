"""The files of the embedded multilingual model: graph and table of weights."""
