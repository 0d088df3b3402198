import assert from "node:assert/strict";
import { createHash, randomBytes } from "node:crypto";
import { test } from "node:test";
import { SDJwtVcInstance } from "@sd-jwt/sd-jwt-vc";
import type { CryptoKey, JWK } from "jose";
import { binding, issuerOf, now, openMembers, PidWorld, person, seconds } from "../../test/support/pid.ts";
import { toBase64 } from "../base64url.ts";
import { issueStatusList } from "../status-list/issue-status-list.ts";
import { judgeSdJwt } from "./judge-sd-jwt.ts";

// @sd-jwt/core and @sd-jwt/sd-jwt-vc as issuer, wallet and verifier of others.
const world = await PidWorld.create();
const signer = (key: CryptoKey) => async (data: string) =>
  Buffer.from(
    await crypto.subtle.sign({ name: "ECDSA", hash: "SHA-256" }, key, new TextEncoder().encode(data)),
  ).toString("base64url");
const foreign = new SDJwtVcInstance({
  signer: signer(world.signer.privateKey),
  signAlg: "ES256",
  kbSigner: signer(world.holder.privateKey),
  kbSignAlg: "ES256",
  hasher: (data, algorithm) =>
    new Uint8Array(
      createHash(algorithm.replace("-", ""))
        .update(typeof data === "string" ? data : Buffer.from(data))
        .digest(),
    ),
  hashAlg: "sha-256",
  saltGenerator: (length) => randomBytes(length).toString("base64url"),
  verifier: async (data, signature) =>
    crypto.subtle.verify(
      { name: "ECDSA", hash: "SHA-256" },
      world.signer.publicKey,
      Buffer.from(signature, "base64url"),
      new TextEncoder().encode(data),
    ),
  kbVerifier: async (data, signature, payload) => {
    const jwk = (payload as { cnf: { jwk: JWK } }).cnf.jwk;
    const key = await crypto.subtle.importKey("jwk", jwk, { name: "ECDSA", namedCurve: "P-256" }, false, [
      "verify",
    ]);
    return crypto.subtle.verify(
      { name: "ECDSA", hash: "SHA-256" },
      key,
      Buffer.from(signature, "base64url"),
      new TextEncoder().encode(data),
    );
  },
});
// Their verifier looks at the status too, in a list that ours made.
let revoked = -1;
const list = { uri: openMembers.status.status_list.uri, bits: 1, size: 1000, issuedAt: now } as const;
foreign.config({
  statusListFetcher: () =>
    issueStatusList({ ...list, statuses: new Map([[revoked, 1]]) }, issuerOf(world.signer)),
  statusVerifier: async () => true,
} as never);
const { kty, crv, x, y } = world.holder.jwk;
const claims = { ...person, ...openMembers, cnf: { jwk: { kty, crv, x, y } } };
const names = Object.keys(person) as (keyof typeof person)[];

async function foreignPresentation(): Promise<string> {
  const issued = await foreign.issue(
    claims as never,
    { _sd: names, nationalities: { _sd: [0, 1] }, _sd_decoy: 3 } as never,
    { header: { x5c: [toBase64(world.signer.certificate)] } },
  );
  const frame = {
    family_name: true,
    given_name: true,
    birthdate: true,
    nationalities: { 0: true },
    document_number: true,
    date_of_expiry: true,
  };
  return foreign.present(issued, frame as never, {
    kb: { payload: { iat: seconds(now), aud: binding.clientId, nonce: binding.nonce } },
  });
}

test("a credential that others issued and presented is accepted, decoys and all", async () => {
  const verdict = await judgeSdJwt(await foreignPresentation(), world.context());
  assert.deepEqual(verdict.kind === "accepted" && verdict.attributes, {
    familyName: "Čapek",
    givenName: "Ærø",
    birthDate: "1990-02-28",
    nationalities: ["DE"],
    documentNumber: "T220001293",
    expiryDate: "2031-05-01",
  });
  assert.equal(verdict.kind === "accepted" && verdict.disclosedMore, false);
});

test("others accept what ours issued and presented, and read the same claims", async () => {
  const presentation = await world.present();
  const options = {
    requiredClaimKeys: ["family_name"],
    keyBindingNonce: binding.nonce,
    currentDate: seconds(now),
  };
  const { payload, kb } = (await foreign.verify(presentation, options as never)) as unknown as {
    payload: Record<string, unknown>;
    kb: { payload: Record<string, unknown> };
  };
  assert.equal(payload.family_name, person.family_name);
  assert.deepEqual(payload.nationalities, ["DE"]);
  assert.equal("sex" in payload, false);
  assert.equal(kb.payload.aud, binding.clientId);
  assert.equal((await judgeSdJwt(presentation, world.context())).kind, "accepted");
  revoked = openMembers.status.status_list.idx;
  await assert.rejects(foreign.verify(presentation, options as never), /status/i);
});

test("ours refuses what theirs made for another request", async () => {
  const presentation = await foreignPresentation();
  const outcome = async (more: object) => {
    const verdict = await judgeSdJwt(presentation, world.context({ binding: { ...binding, ...more } }));
    return verdict.kind === "refused" && verdict.reason;
  };
  assert.equal(await outcome({ nonce: "another" }), "wrong_nonce");
  assert.equal(await outcome({ clientId: "redirect_uri:https://other.example" }), "wrong_audience");
});
