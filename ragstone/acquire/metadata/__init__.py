"""Metadata: language, dates, companies and topics of a text, and the groups that may read it."""
