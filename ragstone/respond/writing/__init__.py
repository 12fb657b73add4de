"""Writing: answers of a language model, from the messages it is given to the sentences it may keep."""
