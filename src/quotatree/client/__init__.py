"""A client for the server's API: `Client(url, token)`, with nouns as attributes. Needs httpx2 and nothing else of QuotaTree."""

from quotatree.client.client import Client
from quotatree.client.errors import ApiError, ClientError

__all__ = ["ApiError", "Client", "ClientError"]
