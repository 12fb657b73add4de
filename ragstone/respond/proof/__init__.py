"""Proof: whether the evidence says what a sentence says, by its words, a trained model or a language model."""
