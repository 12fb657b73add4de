"""Durable jobs for a server and its workers."""
