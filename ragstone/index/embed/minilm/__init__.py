"""The files of the embedded model: weights, graph and vocabulary; what they mean is in `weights`."""
