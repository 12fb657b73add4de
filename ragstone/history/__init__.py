"""What is kept of people's use: conversations, answers, opinions, what happened, what it cost, who may come in."""
