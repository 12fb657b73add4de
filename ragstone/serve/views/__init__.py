"""Turns records of the engine into what is shown: answers, the state of a knowledge base, measurements.

`blocks` has the records of a view. The terminal (`cli.screen`), the report and the lab draw them.
"""
