"""Who is asking? Passwords, API tokens, browser sessions and login by OIDC. Secrets are made and checked here only."""
