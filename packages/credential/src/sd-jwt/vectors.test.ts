import assert from "node:assert/strict";
import { test } from "node:test";
import { importJWK } from "jose";
import { asked, binding, newHolder } from "../../test/support/pid.ts";
import vectors from "../../test/vectors/sd-jwt.json" with { type: "json" };
import { toBase64Url } from "../base64url.ts";
import { digest, utf8 } from "../bytes.ts";
import type { JudgeContext } from "../judge-context.ts";
import { certificatesOf, claimsOf, hasSignature, readJws } from "../jws/read-jws.ts";
import { applyDisclosures } from "./apply-disclosures.ts";
import { judgeSdJwt } from "./judge-sd-jwt.ts";
import { keyBinding } from "./present-sd-jwt.ts";

test("the presentation of OpenID4VP 1.0 gives its claims, and its key binding is over it", async () => {
  const { presentation, claims } = vectors.openid4vp;
  const [jws = "", ...others] = presentation.split("~");
  const proof = readJws(others.pop() ?? "", 10_000);
  const payload = claimsOf(readJws(jws, 10_000));
  const applied = await applyDisclosures(payload, others, "sha-256");
  assert.deepEqual(applied.kind === "applied" && applied.claims, claims);
  const key = await importJWK(claims.cnf.jwk, "ES256");
  assert.ok(!(key instanceof Uint8Array) && (await hasSignature(proof, key, "ES256")));
  const bound = presentation.slice(0, presentation.lastIndexOf("~") + 1);
  assert.equal(claimsOf(proof).sd_hash, toBase64Url(await digest("SHA-256", utf8(bound))));
});

test("a PID of the Bundesdruckerei's demonstration issuer counts, up to the proof that only its holder can make", async () => {
  const { issued } = vectors.bundesdruckerei;
  const [, root] = certificatesOf(readJws(issued.split("~")[0] ?? "", 10_000)) ?? [];
  assert.ok(root);
  const context: JudgeContext = {
    asked,
    binding,
    anchors: [{ purpose: "pid", certificate: root, list: "operator", stale: false }],
    now: new Date("2025-06-01T00:00:00Z"),
    holderProof: "required",
  };
  const reasonOf = async (presentation: string, more: Partial<JudgeContext> = {}) => {
    const verdict = await judgeSdJwt(presentation, { ...context, ...more });
    return verdict.kind === "refused" && verdict.reason;
  };
  assert.equal(await reasonOf(issued), "holder_proof_missing");
  const { privateKey } = await newHolder();
  const proof = { privateKey, audience: binding.clientId, nonce: binding.nonce, issuedAt: context.now };
  assert.equal(await reasonOf(issued + (await keyBinding(issued, "sha-256", proof))), "holder_signature");
  assert.equal(await reasonOf(issued, { now: new Date("2025-08-01T00:00:00Z") }), "credential_expired");
  assert.equal(await reasonOf(issued, { anchors: [] }), "issuer_unknown");
  assert.equal(await reasonOf(issued.replace("~WyI5", "~WyI6")), "digest_mismatch");
  const { _sd_alg, ...payload } = claimsOf(readJws(issued.split("~")[0] ?? "", 10_000));
  const applied = await applyDisclosures(payload, issued.split("~").slice(1, -1), "sha-256");
  assert.deepEqual(applied.kind === "applied" && applied.claims.place_of_birth, {
    country: "BERLIN",
    locality: "BERLIN",
    region: "BERLIN",
  });
});
