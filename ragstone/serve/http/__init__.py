"""The HTTP server. How do programs and browsers use Ragstone?

`app.build_app` builds the application and `server.serve` runs it. FastAPI is imported nowhere else.
"""
