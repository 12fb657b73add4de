"""Learning from votes: policies, the trials that compare them, and the evidence that a change is an improvement."""
