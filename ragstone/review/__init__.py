"""Review: judge evidence and answers, and evaluate a system on questions with known answers."""
