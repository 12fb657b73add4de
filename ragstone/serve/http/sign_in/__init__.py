"""People sign in: through a provider of OpenID Connect, or with a name and a password of the knowledge base."""
