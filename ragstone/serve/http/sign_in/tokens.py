"""ID tokens: their signatures, and the claims that OpenID Connect Core, section 3.1.3.7, requires to be checked."""

from __future__ import annotations

import base64
import hashlib
import hmac
from collections.abc import Mapping, Sequence
from typing import Any

import jwt

from ragstone.core.frozen import frozen
from ragstone.serve.http.sign_in.failures import SignInFailed

ALGORITHMS: Mapping[str, str] = {
    "RS256": "RSA",
    "RS384": "RSA",
    "RS512": "RSA",
    "PS256": "RSA",
    "PS384": "RSA",
    "PS512": "RSA",
    "ES256": "EC",
    "ES384": "EC",
    "ES512": "EC",
    "EdDSA": "OKP",
}
"""Algorithms with a public key, and the kind of key each needs. None has a secret that the public key could be used
for, and ``none`` is not among them."""
LEEWAY_SECONDS = 60
"""How far the provider's clock may be off."""
SMALLEST_RSA_BITS = 2_048
LONGEST_SUBJECT = 255
LONGEST_TOKEN = 100_000


@frozen
class Expected:
    """What the claims of a token must be."""

    issuer: str
    client_id: str
    nonce: str
    access_token: str


class KeyUnknown(SignInFailed):
    """The token names a key that is not among the provider's: they may have been rotated."""

    def __init__(self) -> None:
        super().__init__("refused", "the ID token is signed with a key that the provider does not list")


def verified(token: str, keys: Sequence[Mapping[str, Any]], expected: Expected) -> dict[str, Any]:
    """Return the claims of an ID token.

    Args:
        token: in the compact form.
        keys: the provider's, as JSON Web Keys.
        expected: of its claims.

    Raises:
        KeyUnknown: none of the keys can have signed it.
        SignInFailed: the signature or a claim is wrong.
    """
    if len(token) > LONGEST_TOKEN:
        raise SignInFailed("refused", "the ID token is too long")
    try:
        header = jwt.get_unverified_header(token)
        algorithm = str(header.get("alg", ""))
        if algorithm not in ALGORITHMS:
            raise SignInFailed("refused", f"the ID token is signed with {algorithm!r:.40}, which is not accepted")
        key = _key(keys, algorithm, header.get("kid"))
        claims = jwt.decode(
            token,
            key,
            algorithms=[algorithm],
            audience=expected.client_id,
            issuer=expected.issuer,
            leeway=LEEWAY_SECONDS,
            options={"require": ["iss", "sub", "aud", "exp", "iat"]},
        )
    except jwt.PyJWTError as error:
        raise SignInFailed("refused", f"the ID token is not valid: {error}") from error
    _check_claims(claims, algorithm, expected)
    return claims


def _key(keys: Sequence[Mapping[str, Any]], algorithm: str, id: object) -> jwt.PyJWK:
    """Return the key that a token names, or the only one that fits if it names none."""
    fitting = [
        key
        for key in keys
        if key.get("kty") == ALGORITHMS[algorithm]
        and key.get("use", "sig") == "sig"
        and key.get("alg", algorithm) == algorithm
        and (id is None or key.get("kid") == id)
    ]
    if not fitting:
        raise KeyUnknown
    if len(fitting) > 1:
        raise SignInFailed("refused", "the ID token does not say which of the provider's keys signed it")
    key = jwt.PyJWK(dict(fitting[0]), algorithm)
    if getattr(key.key, "key_size", SMALLEST_RSA_BITS) < SMALLEST_RSA_BITS and ALGORITHMS[algorithm] == "RSA":
        raise SignInFailed("refused", f"the provider's key is shorter than {SMALLEST_RSA_BITS} bits")
    return key


def _check_claims(claims: Mapping[str, Any], algorithm: str, expected: Expected) -> None:
    audience, party = claims["aud"], claims.get("azp")
    if (isinstance(audience, list) and party is None and audience != [expected.client_id]) or party not in (
        None,
        expected.client_id,
    ):
        raise SignInFailed("refused", "the ID token was given to another client")
    nonce = claims.get("nonce")
    if not isinstance(nonce, str) or not hmac.compare_digest(nonce.encode(), expected.nonce.encode()):
        raise SignInFailed("refused", "the ID token belongs to another sign-in")
    subject = claims["sub"]
    if not isinstance(subject, str) or not 0 < len(subject) <= LONGEST_SUBJECT or not subject.isprintable():
        raise SignInFailed("refused", "the ID token does not say whose it is")
    hash = claims.get("at_hash")
    if hash is not None and hash != _half_hash(expected.access_token, algorithm):
        raise SignInFailed("refused", "the ID token and the access token do not belong together")


def _half_hash(access_token: str, algorithm: str) -> str:
    """Return the left half of a token's hash, as in the claim ``at_hash``."""
    digest = hashlib.new(f"sha{algorithm[2:] if algorithm[2:].isdecimal() else '512'}", access_token.encode()).digest()
    return base64.urlsafe_b64encode(digest[: len(digest) // 2]).rstrip(b"=").decode()
