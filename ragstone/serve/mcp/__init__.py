"""Ragstone for agents: its tools, what they give, and the server of the Model Context Protocol that offers them."""
