"""Research: more than one search for a question, in a budget, with or without a language model that plans."""
