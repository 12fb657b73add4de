"""What goes over the wire: requests and responses as JSON has them, named as the records they tell of.

The OpenAPI document, and the types that clients make from it, come from here.
"""
