# pip install cryptography
import base64
import hashlib
import hmac
import json
import re
import time

from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import padding
from cryptography.hazmat.primitives.ciphers.aead import AESGCM


def decode(part: str) -> bytes:
    return base64.urlsafe_b64decode(part + "=" * (-len(part) % 4))


def open_webhook(signature: str, body: str, secret: str, private_key: bytes) -> str:
    """signature is the header X-Service-Signature, body the text as it came, secret the whole whsec_... string."""
    # During a rotation there are two, separated by a space.
    for one in signature.split(" "):
        match = re.fullmatch(r"t=(\d+),v1=([0-9a-f]{64})", one)
        if match is None or abs(time.time() - int(match[1])) > 300:
            raise ValueError("too old, or no signature")
        expected = hmac.new(secret.encode(), f"{match[1]}.{body}".encode(), hashlib.sha256).hexdigest()
        if hmac.compare_digest(expected, match[2]):
            break
    else:
        raise ValueError("wrong signature")

    header, wrapped_key, nonce, text, tag = body.split(".")
    protected = json.loads(decode(header))
    if protected["alg"] != "RSA-OAEP-256" or protected["enc"] != "A256GCM":
        raise ValueError("not the expected encryption")
    oaep = padding.OAEP(padding.MGF1(hashes.SHA256()), hashes.SHA256(), None)
    key = serialization.load_pem_private_key(private_key, None).decrypt(decode(wrapped_key), oaep)
    return AESGCM(key).decrypt(decode(nonce), decode(text) + decode(tag), header.encode()).decode()
