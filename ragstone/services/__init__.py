"""Services: model clients, connections, retries, prices and budgets, and the addresses that may be reached."""
