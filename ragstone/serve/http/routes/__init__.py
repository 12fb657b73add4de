"""The routes, one module for each subject, each with the messages it reads and writes.

The OpenAPI document, and the types that clients generate from it, come from these messages.
"""
