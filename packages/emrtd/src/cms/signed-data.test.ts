import assert from "node:assert/strict";
import { test } from "node:test";
import { oids } from "../ber/oid.ts";
import { contextConstructed, tags } from "../ber/tag.ts";
import { contextTag, integer, nullValue, octetString, oid, sequence, tlv } from "../ber/write.ts";
import { concat } from "../bytes.ts";
import { digests, hashAlgorithm } from "../crypto/digests.ts";
import { attributeOids, readSignedData } from "./signed-data.ts";

function attribute(type: string, value: Uint8Array): Uint8Array {
  return sequence(oid(type), tlv(tags.set, value));
}

/** Attributes, one of them unknown and of the given length. */
function attributesOf(extraBytes: number): Uint8Array {
  return concat(
    attribute(attributeOids.contentType, oid(oids.ldsSecurityObject)),
    attribute(attributeOids.messageDigest, octetString(new Uint8Array(32).fill(7))),
    attribute("1.2.3.4", octetString(new Uint8Array(extraBytes).fill(9))),
  );
}

function signedOctets(encodedAttributes: Uint8Array): Uint8Array {
  const digest = hashAlgorithm("SHA-256");
  const signerInfo = sequence(
    integer(1),
    sequence(sequence(), integer(1)),
    digest,
    encodedAttributes,
    sequence(oid(digests["SHA-256"].rsa_pkcs1), nullValue()),
    octetString(new Uint8Array(256)),
  );
  const content = sequence(oid(oids.ldsSecurityObject), contextTag(0, octetString(Uint8Array.of(1))));
  const signedData = sequence(integer(3), tlv(tags.set, digest), content, tlv(tags.set, signerInfo));
  const message = sequence(oid(oids.signedData), contextTag(0, signedData));
  const signed = readSignedData(message, { maxBytes: 100_000 }).signers[0]?.attributes?.signed;
  assert.ok(signed);
  return signed;
}

test("what was signed is the attributes as DER writes a SET, however their length was written", () => {
  const tag = contextConstructed(0);
  for (const extraBytes of [0, 30, 31, 32, 33, 100, 157, 158, 159, 160, 161, 1000, 20_000, 66_000]) {
    const attributes = attributesOf(extraBytes);
    const { length } = attributes;
    const longest = Uint8Array.of(tag, 0x84, 0, length >> 16, (length >> 8) & 255, length & 255);
    const expected = tlv(tags.set, attributes);
    for (const encoded of [
      tlv(tag, attributes),
      concat(longest, attributes),
      concat(Uint8Array.of(tag, 0x80), attributes, new Uint8Array(2)),
    ])
      assert.deepEqual(signedOctets(encoded), expected, `${length} bytes`);
    if (length < 0x100)
      assert.deepEqual(signedOctets(concat(Uint8Array.of(tag, 0x82, 0, length), attributes)), expected);
    if (length < 0x80)
      assert.deepEqual(signedOctets(concat(Uint8Array.of(tag, 0x81, length), attributes)), expected);
  }
});
