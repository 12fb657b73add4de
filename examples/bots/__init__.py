"""Bots of chat programs that ask a server of Ragstone with the rights of whoever asks; they need only Python."""
