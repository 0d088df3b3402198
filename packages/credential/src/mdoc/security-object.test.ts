import assert from "node:assert/strict";
import { test } from "node:test";
import { makeCertificate } from "../../test/support/make-certificate.ts";
import { decode } from "../cbor/decode.ts";
import { encode } from "../cbor/encode.ts";
import { type CborKey, type CborValue, embedded, isMap } from "../cbor/value.ts";
import { CredentialError } from "../credential-error.ts";
import { issueMdoc } from "./issue-mdoc.ts";
import { readMobileSecurityObject } from "./mobile-security-object.ts";
import { readEmbedded } from "./read-device-response.ts";

const day = new Date("2026-11-18T00:00:00Z");
const signer = await makeCertificate({
  subject: "CN=Signer",
  notBefore: day,
  notAfter: new Date("2027-01-01T00:00:00Z"),
});
const { issuerAuth } = await issueMdoc({
  docType: "org.example.card",
  nameSpaces: { "org.example": { name: "x" } },
  signer: { ...signer, chain: [signer.certificate] },
  deviceKey: null,
  signed: day,
  validFrom: day,
  validUntil: day,
});
const payload = issuerAuth[2];
assert.ok(payload instanceof Uint8Array);
const signed = decode(readEmbedded(decode(payload, { maxBytes: 1e5 })), { maxBytes: 1e5 });
assert.ok(isMap(signed));
const whole = signed;

const withMember = (name: string, value: CborValue) =>
  readMobileSecurityObject(encode(embedded(encode(new Map<CborKey, CborValue>([...whole, [name, value]])))));
const isMalformed = (error: unknown) => error instanceof CredentialError && error.code === "malformed";

test("digests have a namespace, a number and the length of their algorithm", () => {
  const digests = (nameSpace: CborKey, id: CborKey, digest: CborValue) =>
    withMember("valueDigests", new Map([[nameSpace, new Map([[id, digest]])]]));
  assert.equal(digests("org.example", 0, new Uint8Array(32)).digests.get("org.example")?.size, 1);
  for (const [nameSpace, id, digest] of [
    [1, 0, new Uint8Array(32)],
    ["org.example", "0", new Uint8Array(32)],
    ["org.example", 0, "x".repeat(32)],
    ["org.example", 0, new Uint8Array(31)],
    ["org.example", 0, new Uint8Array(48)],
  ] as const)
    assert.throws(() => digests(nameSpace, id, digest), isMalformed, `${nameSpace} ${typeof id}`);
});

test("a status reference has an address of a bounded length and a number", () => {
  const status = (uri: CborValue, idx: CborValue) =>
    withMember(
      "status",
      new Map([
        [
          "status_list",
          new Map<CborKey, CborValue>([
            ["uri", uri],
            ["idx", idx],
          ]),
        ],
      ]),
    ).status;
  const uri = "https://issuer.example/status/1";
  assert.deepEqual(status(uri, 0), { uri, index: 0 });
  assert.equal(status(uri.padEnd(2048, "x"), 0)?.uri.length, 2048);
  for (const [odd, index] of [
    [uri.padEnd(2049, "x"), 0],
    [1, 0],
    [new Uint8Array(3), 0],
    [uri, -1],
    [uri, "1"],
    [uri, 2n ** 60n],
  ] as const)
    assert.throws(() => status(odd, index), isMalformed, `${typeof odd} ${index}`);
});

test("type, version and algorithm are those that are known", () => {
  assert.equal(withMember("docType", "org.example.card").docType, "org.example.card");
  assert.throws(() => withMember("docType", 1), isMalformed);
  assert.throws(() => withMember("version", "1.1"), isMalformed);
  assert.throws(
    () => withMember("digestAlgorithm", "SHA-1"),
    (error) => error instanceof CredentialError && error.code === "not_supported",
  );
});
