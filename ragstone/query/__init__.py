"""Query: a question to candidates, the chunks that might answer it.

A question is worded for retrieval (`respell`), searched for by several legs (`gather`), and their results are fused
(`fuse`). `where` reads filters, and `web_services` searches the web. To add a fusion rule, see `ragstone.query.fuse`.
"""
