"""How many false sentences the proof of an answer finds, and how many true ones it doubts.

Run it with `python -m benchmarks.proof`.

`planted` changes true sentences by rule; `written` reads claims that were written by hand; `checked` puts claims to the
evidence that a search finds; `entailment` puts the pairs of public sets to the model alone.
"""
