"""A self-signed certificate, for TLS if the settings name no certificate.

It is made once and kept with the knowledge base; only its owner can read the private key. Clients have to be told to
trust it, by its fingerprint. trustme would not help: it needs the same package, and makes an authority besides.
"""

from __future__ import annotations

import ipaddress
import os
import socket
from collections.abc import Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from ragstone.core.errors import KnowledgeBaseError
from ragstone.core.frozen import frozen

DAYS = 397
"""Browsers reject certificates that are valid for longer."""
RENEWAL_DAYS = 30
"""A start makes a new certificate if the old one expires within this time."""


@frozen
class Certificate:
    """The files of a certificate, and its SHA-256 fingerprint in hexadecimal."""

    certificate: Path
    key: Path
    fingerprint: str


def self_signed(folder: Path, names: Sequence[str]) -> Certificate:
    """Return the certificate in a folder. Make a new one if there is none, if it expires soon, or if it lacks a name.

    Raises:
        KnowledgeBaseError: it cannot be written.
    """
    files = folder / "certificate.pem", folder / "key.pem"
    wanted = list(dict.fromkeys(["localhost", "127.0.0.1", "::1", socket.gethostname(), *names]))
    try:
        certificate = _stored(*files, wanted)
        if certificate is None:
            certificate = _make(*files, wanted)
    except OSError as error:
        raise KnowledgeBaseError(f"cannot write a certificate to {folder}: {error}") from error
    fingerprint = certificate.fingerprint(hashes.SHA256()).hex(":").upper()
    return Certificate(certificate=files[0], key=files[1], fingerprint=fingerprint)


def _stored(certificate: Path, key: Path, wanted: Sequence[str]) -> x509.Certificate | None:
    if not (certificate.is_file() and key.is_file()):
        return None
    with suppress(ValueError, x509.ExtensionNotFound):
        stored = x509.load_pem_x509_certificate(certificate.read_bytes())
        private = serialization.load_pem_private_key(key.read_bytes(), password=None)
        names = stored.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
        is_fresh = stored.not_valid_after_utc - datetime.now(UTC) > timedelta(days=RENEWAL_DAYS)
        has = {*names.get_values_for_type(x509.DNSName), *map(str, names.get_values_for_type(x509.IPAddress))}
        if is_fresh and has.issuperset(wanted) and private.public_key() == stored.public_key():
            return stored
    return None


def _make(certificate: Path, key: Path, names: Sequence[str]) -> x509.Certificate:
    private = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "Ragstone")])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(private.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(hours=1))
        .not_valid_after(now + timedelta(days=DAYS))
        .add_extension(x509.SubjectAlternativeName([_name(one) for one in names]), critical=False)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
        .sign(private, hashes.SHA256())
    )
    form, plain = serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    certificate.parent.mkdir(mode=0o700, exist_ok=True)
    _write(key, private.private_bytes(serialization.Encoding.PEM, form, plain), 0o600)
    _write(certificate, made.public_bytes(serialization.Encoding.PEM), 0o644)
    return made


def _name(text: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(text))
    except ValueError:
        return x509.DNSName(text)


def _write(file: Path, content: bytes, mode: int) -> None:
    """Write a file in one step, never readable by more users than its mode allows."""
    temporary = file.with_name(f".{file.name}.{os.getpid()}")
    temporary.unlink(missing_ok=True)
    with os.fdopen(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "wb") as out:
        out.write(content)
        out.flush()
        os.fsync(out.fileno())
    temporary.replace(file)
