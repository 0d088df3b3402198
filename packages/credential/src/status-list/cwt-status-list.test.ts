import assert from "node:assert/strict";
import { test } from "node:test";
import { CoseKey } from "@owf/mdoc";
import { StatusList as OwfList, StatusListCwt } from "@owf/token-status-list";
import { owfContext } from "../../test/owf-context.ts";
import { anchorOf, newAuthority, newSigner, now, seconds } from "../../test/support/pid.ts";
import { encode } from "../cbor/encode.ts";
import { type CborKey, CborTag, type CborValue } from "../cbor/value.ts";
import { signSign1 } from "../cose/sign1.ts";
import { CredentialError } from "../credential-error.ts";
import { deflate } from "./issue-status-list.ts";
import { readStatusList } from "./read-status-list.ts";
import { type StatusListOptions, statusAt } from "./status-list.ts";

const authority = await newAuthority();
const signer = await newSigner(authority);
const uri = "https://pid.example/status/1";
const options: StatusListOptions = { uri, anchors: [anchorOf(authority)], purpose: "pid", now };
const code = (expected: CredentialError["code"]) => (error: unknown) =>
  error instanceof CredentialError && error.code === expected;

type Claims = readonly (readonly [CborKey, CborValue])[];

/** Statuses 0, 1, 2 and 1 in two bits each. */
async function token(
  more: Claims = [],
  type: CborValue = "application/statuslist+cwt",
  tags: readonly number[] = [18],
) {
  const list = new Map<CborKey, CborValue>([
    ["bits", 2],
    ["lst", await deflate(Uint8Array.of(0b01_10_01_00))],
  ]);
  const claims = new Map<CborKey, CborValue>([[2, uri], [6, seconds(now)], [65533, list], ...more]);
  const sign1 = await signSign1({
    key: signer,
    payload: encode(claims),
    protectedHeaders: new Map([[16, type]]),
    unprotectedHeaders: new Map([[33, signer.certificate]]),
  });
  return encode(tags.reduce<CborValue>((value, tag) => new CborTag(tag, value), sign1));
}

test("a list as CWT says which credentials are revoked or suspended", async () => {
  const ttl: Claims = [
    [65534, 3600],
    [4, seconds(now) + 60],
  ];
  for (const tags of [[], [18], [18, 61]]) {
    const list = await readStatusList(await token(ttl, undefined, tags), options);
    assert.deepEqual(
      [0, 1, 2, 3, 4].map((index) => statusAt(list, index)),
      ["valid", "revoked", "suspended", "revoked", "unknown"],
    );
    assert.equal(list.ttlSeconds, 3600);
    assert.equal(list.expiresAt?.getTime(), (seconds(now) + 60) * 1000);
  }
});

test("what @owf/token-status-list signs is read, in every width", async () => {
  const { kty, crv, x, y, d } = await crypto.subtle.exportKey("jwk", signer.privateKey);
  const signingKey = CoseKey.fromJwk({ kty, crv, x, y, d, alg: "ES256" });
  for (const bits of [1, 2, 4, 8] as const) {
    const cwt = new StatusListCwt({
      payload: { statusList: new OwfList([0, 1, 0, 1, 1, 0, 0, 0, 1], bits), subject: uri, issuedAt: now },
      protectedHeaders: new Map([[1, -7]]),
      unprotectedHeaders: new Map([[33, signer.certificate]]),
    });
    const signed = await cwt.signAndEncode(
      { signingKey: signingKey as never },
      owfContext.cose.sign1 as never,
    );
    const list = await readStatusList(Uint8Array.from(signed), options);
    assert.equal(list.bits, bits);
    assert.deepEqual(
      [0, 1, 3, 8].map((index) => statusAt(list, index)),
      ["valid", "revoked", "revoked", "revoked"],
    );
  }
});

test("another address, type, signer, signature or time is refused", async () => {
  const good = await token();
  await assert.rejects(
    readStatusList(good, { ...options, uri: "https://pid.example/status/2" }),
    code("malformed"),
  );
  await assert.rejects(readStatusList(await token([], "application/cwt"), options), code("malformed"));
  await assert.rejects(readStatusList(good, { ...options, anchors: [] }), code("signature"));
  await assert.rejects(readStatusList(good, { ...options, purpose: "mdl" }), code("signature"));
  const damaged = good.map((byte, index) => (index === good.length - 1 ? byte ^ 1 : byte));
  await assert.rejects(readStatusList(damaged, options), code("signature"));
  await assert.rejects(readStatusList(await token([[4, seconds(now) - 1]]), options), code("expired"));
  await assert.rejects(readStatusList(await token([[6, seconds(now) + 3600]]), options), CredentialError);
  await assert.rejects(readStatusList(await token([[65534, "1"]]), options), code("malformed"));
  await assert.rejects(readStatusList(Uint8Array.of(0xa0), options), code("malformed"));
});
