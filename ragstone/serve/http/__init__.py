"""The HTTP server. How do programs and browsers use Ragstone?

`app.build_app` makes the application, `run.serve` runs it. FastAPI is imported nowhere else.
"""
