"""Who vouches for people? A small identity provider on 127.0.0.1, whose tokens the API server believes (OIDC)."""

from __future__ import annotations

import json
import ssl
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from joserfc import jwt
from joserfc.jwk import ECKey

from tests.kubernetes.cluster import Cluster
from tests.kubernetes.parts import OIDC_CLIENT

HOUR_SECONDS = 3600


class Issuer:
    def __init__(self, url: str) -> None:
        self.url = url
        self._key = ECKey.generate_key("P-256", {"kid": "one", "alg": "ES256", "use": "sig"})

    def token(self, email: str, *, key: ECKey | None = None) -> str:
        """The ID token of a person, for an hour; `key`: signed by somebody else."""
        now = int(time.time())
        claims = {
            "iss": self.url, "aud": OIDC_CLIENT, "sub": email, "email": email, "email_verified": True,
            "iat": now, "exp": now + HOUR_SECONDS,
        }  # fmt: skip
        return jwt.encode({"alg": "ES256", "kid": "one"}, claims, key or self._key)

    def pages(self) -> dict[str, object]:
        found = {
            "issuer": self.url,
            "jwks_uri": f"{self.url}/keys",
            "id_token_signing_alg_values_supported": ["ES256"],
            "response_types_supported": ["id_token"],
            "subject_types_supported": ["public"],
        }
        return {
            "/.well-known/openid-configuration": found,
            "/keys": {"keys": [self._key.as_dict(private=False)]},
        }


@contextmanager
def issuing(cluster: Cluster) -> Iterator[Issuer]:
    """The provider that the API server of this cluster looks for; it finds it within ten seconds."""
    issuer = Issuer(cluster.issuer_url)
    pages = {path: json.dumps(page).encode() for path, page in issuer.pages().items()}

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = pages.get(self.path)
            self.send_response(200 if body else 404)
            self.send_header("Content-Type", "application/json")
            self.end_headers()
            self.wfile.write(body or b"{}")

        def log_message(self, format: str, *arguments: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", cluster.issuer_port), Handler)
    certificate = cluster.certificate_of_server("issuer")
    secure = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    secure.load_cert_chain(certificate, certificate.with_suffix(".key"))
    server.socket = secure.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever, name="issuer", daemon=True)
    thread.start()
    try:
        yield issuer
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
