"""Who is asking, and whom else does the server let in? Logins, tokens, users, webhooks."""
