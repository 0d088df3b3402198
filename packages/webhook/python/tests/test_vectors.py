"""`python3 -m unittest discover -s tests` in this package's folder. The vectors are those of the npm package."""

import json
import sys
import unittest
from datetime import datetime
from pathlib import Path

folder = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(folder))

from assay_webhook import WebhookError, webhook  # noqa: E402

vectors = json.loads((folder.parent / "vectors.json").read_text())
private_keys = vectors["privateKeys"]
now = datetime.fromisoformat(vectors["now"].replace("Z", "+00:00")).timestamp()


def keys_of(vector):
    return [private_keys[key] if isinstance(key, str) else (key["kid"], private_keys[key["key"]]) for key in vector["keys"]]


def open_vector(vector, **more):
    headers = {} if vector["signature"] is None else {"X-Service-Signature": vector["signature"]}
    options = {"secrets": vector["secrets"], "keys": keys_of(vector), "now": lambda: now, **more}
    return webhook(**options)(headers, vector["body"])


class Vectors(unittest.TestCase):
    def test_every_vector(self):
        for vector in vectors["cases"]:
            with self.subTest(vector["name"]):
                if "event" in vector:
                    self.assertEqual(open_vector(vector), vector["event"])
                else:
                    with self.assertRaises(WebhookError) as raised:
                        open_vector(vector)
                    self.assertEqual(raised.exception.code, vector["error"])

    def test_bytes_and_parsed_bodies(self):
        valid = vectors["cases"][0]
        open_delivery = webhook(secrets=valid["secrets"], keys=keys_of(valid), now=lambda: now)
        headers = {"x-service-signature": [valid["signature"]]}
        self.assertEqual(open_delivery(headers, valid["body"].encode()), valid["event"])
        for parsed in ({}, None, 7):
            with self.assertRaises(WebhookError) as raised:
                open_delivery(headers, parsed)
            self.assertEqual(raised.exception.code, "body_already_parsed")

    def test_options(self):
        valid = vectors["cases"][0]
        for more in (
            {"secrets": []},
            {"secrets": "whsec_x"},
            {"secrets": ["abcdef"]},
            {"keys": []},
            {"keys": "nonsense"},
            {"keys": ["nonsense"]},
            {"keys": [None]},
        ):
            with self.assertRaises(WebhookError) as raised:
                open_vector(valid, **more)
            self.assertEqual(raised.exception.code, "options_invalid")
            self.assertNotIn("abcdef", str(raised.exception))
        escaped = private_keys["a"].replace("\n", "\\n")
        self.assertEqual(open_vector(valid, keys=[escaped]), valid["event"])


if __name__ == "__main__":
    unittest.main()
