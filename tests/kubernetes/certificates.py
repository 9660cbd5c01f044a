"""Who vouches for whom in the control plane: one authority, certificates of servers and of clients, the key of service accounts."""

from __future__ import annotations

import datetime
import ipaddress
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

VALID_DAYS = 30


class Authority:
    """Signs certificates and writes them as NAME.crt and NAME.key into one folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = _name("quotatree-tests", ())
        certificate = (
            _builder(self._name, self._name, self._key)
            .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
            .sign(self._key, hashes.SHA256())
        )
        self.certificate = self._write("ca", certificate, self._key)

    def serve(self, name: str) -> Path:
        """Certificate of a server on this machine; its key stands beside it."""
        key = ec.generate_private_key(ec.SECP256R1())
        names: list[x509.GeneralName] = [x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]
        names += [x509.DNSName(one) for one in ("localhost", "kubernetes", "kubernetes.default.svc")]
        certificate = (
            _builder(_name(name, ()), self._name, key)
            .add_extension(x509.SubjectAlternativeName(names), critical=False)
            .sign(self._key, hashes.SHA256())
        )
        return self._write(name, certificate, key)

    def client(self, file: str, user: str, groups: tuple[str, ...]) -> Path:
        """Certificate with which a client is this user of these groups; its key stands beside it."""
        key = ec.generate_private_key(ec.SECP256R1())
        certificate = _builder(_name(user, groups), self._name, key).sign(self._key, hashes.SHA256())
        return self._write(file, certificate, key)

    def key(self, name: str) -> Path:
        """A key without certificate, as NAME.key."""
        return self._write_key(name, ec.generate_private_key(ec.SECP256R1()))

    def _write(self, name: str, certificate: x509.Certificate, key: ec.EllipticCurvePrivateKey) -> Path:
        path = self.folder / f"{name}.crt"
        path.write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
        self._write_key(name, key)
        return path

    def _write_key(self, name: str, key: ec.EllipticCurvePrivateKey) -> Path:
        path = self.folder / f"{name}.key"
        encoding, form = serialization.Encoding.PEM, serialization.PrivateFormat.TraditionalOpenSSL
        path.write_bytes(key.private_bytes(encoding, form, serialization.NoEncryption()))
        path.chmod(0o600)
        return path


def _name(user: str, groups: tuple[str, ...]) -> x509.Name:
    parts = [x509.NameAttribute(NameOID.ORGANIZATION_NAME, group) for group in groups]
    return x509.Name([*parts, x509.NameAttribute(NameOID.COMMON_NAME, user)])


def _builder(
    subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePrivateKey
) -> x509.CertificateBuilder:
    now = datetime.datetime.now(datetime.UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(minutes=5))
        .not_valid_after(now + datetime.timedelta(days=VALID_DAYS))
    )
