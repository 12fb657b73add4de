"""How a knowledge base is kept: documents in and out, what follows a change, other settings, copies, repairs."""
