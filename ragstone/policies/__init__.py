"""What a knowledge base learns from votes: its log, what follows from that, and which version answers a question."""
