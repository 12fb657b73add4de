"""The files of the embedded model: graph, table of weights and vocabulary."""
