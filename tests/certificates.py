"""Certificates for servers on this machine. The program `openssl` is not on every machine, and each version differs."""

import ssl
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID


class Authority:
    """A private authority, and certificates that it signs.

    They are as a company's often are: they lack the identifiers of keys that RFC 5280 asks for.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._key = _make_key()
        self._name = _make_name("Private")
        self.path = folder / "ca.pem"
        self.path.write_bytes(_write(self._sign(self._name, self._key, days=2)))

    def sign(self, *names: str, days: int = 2) -> ssl.SSLContext:
        """For a server of these names; with days below zero, a certificate that ended so many days ago."""
        key = _make_key()
        made = self._sign(_make_name("site"), key, names, days)
        return _serve(self._folder, made, key)

    def _sign(
        self, subject: x509.Name, key: ec.EllipticCurvePrivateKey, names: tuple[str, ...] = (), days: int = 2
    ) -> x509.Certificate:
        return _build(subject, self._name, key, names, days).sign(self._key, hashes.SHA256())


def make_certificate(folder: Path, *names: str) -> ssl.SSLContext:
    """For a server of these names, vouching for itself; `cert.pem` and `key.pem` are in the folder then."""
    key = _make_key()
    name = _make_name(names[0])
    return _serve(folder, _build(name, name, key, names, 2).sign(key, hashes.SHA256()), key)


def _build(
    subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePrivateKey, names: tuple[str, ...], days: int
) -> x509.CertificateBuilder:
    now = datetime.now(UTC)
    builder = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=5))
        .not_valid_after(now + timedelta(days=days))
    )
    if subject == issuer:
        builder = builder.add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
    if names:
        builder = builder.add_extension(x509.SubjectAlternativeName([_make_alternative(name) for name in names]), False)
    return builder


def _make_key() -> ec.EllipticCurvePrivateKey:
    return ec.generate_private_key(ec.SECP256R1())


def _make_name(common: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, common)])


def _make_alternative(name: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ip_address(name))
    except ValueError:
        return x509.DNSName(name)


def _serve(folder: Path, made: x509.Certificate, key: ec.EllipticCurvePrivateKey) -> ssl.SSLContext:
    (folder / "cert.pem").write_bytes(_write(made))
    private = serialization.PrivateFormat.PKCS8
    (folder / "key.pem").write_bytes(
        key.private_bytes(serialization.Encoding.PEM, private, serialization.NoEncryption())
    )
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "cert.pem", folder / "key.pem")
    return context


def _write(certificate: x509.Certificate) -> bytes:
    return certificate.public_bytes(serialization.Encoding.PEM)
