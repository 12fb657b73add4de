"""What a language model is told: readable templates, one for each kind of assistant."""
