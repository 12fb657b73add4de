"""Models and services outside: how they are called, tried again and paid for, and which addresses may be reached."""
