"""Opens deliveries of Assay: verifies, decrypts, and returns a typed event.

    open_delivery = webhook(secrets=[secret], keys=[pem])
    event = open_delivery(headers, raw_body)
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
import re
import time
from typing import Any, Callable, List, Mapping, Optional, Sequence, Tuple, Union

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import padding, rsa
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from .event import WebhookEvent

__all__ = ["WebhookError", "WebhookEvent", "webhook"]

# PEM (PKCS #8), or the name that the key is registered under and its PEM.
PrivateKey = Union[str, bytes, Tuple[str, Union[str, bytes]]]
Headers = Mapping[str, Any]
RawBody = Union[str, bytes, bytearray, memoryview]

_SIGNATURE = re.compile(r"t=([0-9]{1,12}),v1=([0-9a-f]{64})")
_Candidate = Tuple[Optional[str], rsa.RSAPrivateKey]


class WebhookError(Exception):
    """The one error of this package. ``code`` says what was wrong."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


def webhook(
    *,
    secrets: Sequence[str],
    keys: Sequence[PrivateKey],
    tolerance_seconds: float = 300,
    now: Callable[[], float] = time.time,
) -> Callable[[Headers, RawBody], WebhookEvent]:
    """Returns a function that opens a delivery from its headers and its body as it was received.

    ``secrets`` are the signing secrets of the endpoint: the current one, and during a rotation the one before.
    ``keys`` are private keys; a delivery names its key by ``kid``, and keys without a name are tried in turn.
    """
    if isinstance(secrets, str) or len(secrets) == 0:
        raise WebhookError("options_invalid", "`secrets` is a list with the signing secret of the endpoint.")
    for index, secret in enumerate(secrets):
        if not isinstance(secret, str) or not secret.startswith("whsec_"):
            raise WebhookError(
                "options_invalid",
                f"`secrets[{index}]` is no signing secret. It begins with `whsec_`; the prefix belongs to it.",
            )
    if isinstance(keys, (str, bytes)) or len(keys) == 0:
        raise WebhookError("options_invalid", "`keys` is a list with the private key of the endpoint.")
    candidates = [_candidate(key) for key in keys]

    def open_delivery(headers: Headers, raw_body: RawBody) -> WebhookEvent:
        body = _text(raw_body)
        _verify(_header(headers, "x-service-signature"), body, secrets, tolerance_seconds, now())
        return _event(_decrypt(body, candidates))

    return open_delivery


def _candidate(given: PrivateKey) -> _Candidate:
    kid, pem = given if isinstance(given, tuple) else (None, given)
    text = pem.encode() if isinstance(pem, str) else pem
    try:
        # A PEM from an environment variable often has its line breaks written as \n.
        key = serialization.load_pem_private_key(text.replace(b"\\n", b"\n"), None)
    except (ValueError, TypeError, AttributeError):
        key = None
    if not isinstance(key, rsa.RSAPrivateKey):
        raise WebhookError("options_invalid", "A private key cannot be read. Give an RSA key as PEM without a passphrase.")
    return kid, key


def _text(body: RawBody) -> str:
    if isinstance(body, str):
        return body
    if isinstance(body, (bytes, bytearray, memoryview)):
        return bytes(body).decode("utf-8", "replace")
    raise WebhookError(
        "body_already_parsed",
        "The body was already parsed. Pass the text or bytes as they were received: `await request.body()` in FastAPI, `request.body` in Django.",
    )


def _header(headers: Headers, name: str) -> Optional[str]:
    for key, value in headers.items():
        if str(key).lower() == name:
            return " ".join(value) if isinstance(value, (list, tuple)) else str(value)
    return None


def _verify(
    signature: Optional[str], body: str, secrets: Sequence[str], tolerance_seconds: float, now: float
) -> None:
    if signature is None or signature.strip() == "":
        raise WebhookError("signature_missing", "The header `X-Service-Signature` is missing. Did a proxy drop it?")
    given = [_SIGNATURE.fullmatch(part) for part in signature.split()]
    for match in given:
        if match is None:
            raise WebhookError("signature_malformed", "The header `X-Service-Signature` is not of the form `t=…,v1=…`.")
    for match in given:
        assert match is not None
        for secret in secrets:
            expected = hmac.new(secret.encode(), f"{match[1]}.{body}".encode(), hashlib.sha256).hexdigest()
            if not hmac.compare_digest(expected, match[2]):
                continue
            age = now - int(match[1])
            if age > tolerance_seconds:
                raise WebhookError(
                    "timestamp_too_old",
                    f"The signature is {round(age)} seconds old. Is it a replay, or is the clock of this machine wrong?",
                )
            if age < -tolerance_seconds:
                raise WebhookError(
                    "timestamp_in_future", "The signature is of the future. Is the clock of this machine wrong?"
                )
            return
    raise WebhookError(
        "signature_mismatch",
        "No secret of `secrets` made the signature. Is it the secret of this endpoint, and is the body exactly as it was received?",
    )


def _decode(part: str) -> bytes:
    if re.fullmatch(r"[A-Za-z0-9_-]*", part) is None:
        raise ValueError("not base64url")
    return base64.urlsafe_b64decode(part + "=" * (-len(part) % 4))


def _decrypt(body: str, candidates: List[_Candidate]) -> bytes:
    try:
        header, wrapped_key, nonce, text, tag = body.split(".")
        protected = json.loads(_decode(header))
        parts = [_decode(part) for part in (wrapped_key, nonce, text, tag)]
        algorithms = (protected["alg"], protected["enc"])
        kid = protected["kid"]
    except (ValueError, KeyError, TypeError, binascii.Error):
        raise WebhookError("body_not_encrypted", "The body is no encrypted delivery. Was it changed on its way?") from None
    # A short tag would be easy to guess.
    if algorithms != ("RSA-OAEP-256", "A256GCM") or not isinstance(kid, str) or len(parts[1]) != 12 or len(parts[3]) != 16:
        raise WebhookError("body_not_encrypted", "The body is not encrypted as deliveries are.")
    named = [key for name, key in candidates if name == kid]
    usable = named or [key for name, key in candidates if name is None]
    if not usable:
        raise WebhookError("key_unknown", f"The delivery is encrypted to the key `{kid}`, which is not among `keys`.")
    oaep = padding.OAEP(padding.MGF1(hashes.SHA256()), hashes.SHA256(), None)
    for key in usable:
        try:
            content_key = key.decrypt(parts[0], oaep)
            if len(content_key) != 32:
                continue
            return AESGCM(content_key).decrypt(parts[1], parts[2] + parts[3], header.encode())
        except (ValueError, InvalidTag):
            continue
    raise WebhookError(
        "decryption_failed",
        f"The delivery is encrypted to the key `{kid}`, and no private key in `keys` opens it. "
        "Is it the private half of the key that is registered under that name?",
    )


def _event(plaintext: bytes) -> WebhookEvent:
    try:
        event = json.loads(plaintext.decode("utf-8"))
    except ValueError:
        event = None
    if not isinstance(event, dict) or not isinstance(event.get("type"), str):
        raise WebhookError("event_malformed", "The decrypted body is no event.")
    return event  # type: ignore[return-value]
