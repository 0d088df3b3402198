import assert from "node:assert/strict";
import { test } from "node:test";
import { evidenceOf } from "./evidence.ts";
import type { WalletProof } from "./proof.ts";
import { riskScore } from "./risk-score.ts";

const now = new Date("2026-03-01T12:00:00.000Z");
const proof: WalletProof = {
  kind: "wallet",
  content: new Uint8Array(),
  method: "wallet_pid",
  format: "dc+sd-jwt",
  trust: "eu_list",
  holder: "key_proven",
  revocation: "checked",
  binding: "same_browser",
  warnings: ["wallet_disclosed_more", "more_nationalities", "wallet_disclosed_more"],
};

test("evidence says what was proved and how, each warning once, and names no issuer", () => {
  assert.deepEqual(evidenceOf(proof, now), {
    method: "wallet",
    credential: "eudi_pid",
    format: "dc+sd-jwt",
    trust: "eu_list",
    holder: "key_proven",
    revocation: "checked",
    binding: "same_browser",
    level: "high",
    warnings: ["more_nationalities", "wallet_disclosed_more"],
    verified_at: now.toISOString(),
  });
});

test("the level is high for a PID whose issuer is on the list of the European Union, and for nothing else", () => {
  for (const other of [
    { trust: "operator" },
    { trust: "sandbox" },
    { method: "wallet_mdl", trust: "vical" },
  ] as const)
    assert.equal(evidenceOf({ ...proof, ...other }, now).level, null);
});

test("each doubt raises the risk, and a refused presentation has the highest", () => {
  const score = (doubt: Partial<WalletProof>, failedTries = 0) =>
    riskScore({ proof: { ...proof, warnings: [], ...doubt }, failedTries });
  assert.equal(score({}), 0);
  assert.equal(score({ holder: "not_proven" }), 0.3);
  assert.equal(score({ revocation: "no_list" }), 0.1);
  assert.equal(score({ revocation: "stale" }), 0.05);
  assert.equal(score({ binding: "handed_over" }), 0.1);
  assert.equal(score({ binding: "cross_device" }), 0.2);
  assert.equal(score({ warnings: ["trust_list_stale"] }), 0.05);
  assert.equal(score({}, 2), 0.098);
  assert.equal(score({ holder: "not_proven", binding: "cross_device" }), 0.44);
  assert.equal(riskScore({ proof: null, failedTries: 0 }), 1);
});
