import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import test from "node:test";
import { methods } from "@assay/contract/facts";
import { failureCodes } from "@assay/contract/sessions";
import type { Core } from "../../src/platform/core.ts";
import { recordTry, type TriedAttempt } from "../../src/verification/attempts/record-try.ts";
import { documentChip } from "../../src/verification/evidence/document-chip/document-chip.ts";
import type { DocumentChipProof } from "../../src/verification/evidence/document-chip/proof.ts";
import type { RiskFacts } from "../../src/verification/evidence/document-chip/risk-score.ts";
import type { Kind } from "../../src/verification/evidence/kind.ts";
import { kinds } from "../../src/verification/evidence/kinds.ts";
import { sharedData } from "../../src/verification/evidence/shared-data.ts";

type DocumentChip = Kind<DocumentChipProof, RiskFacts>;

/**
 * Never called: the compiler reads it, as in ids.test.ts. A planted kind fails at each of these lines until
 * it has a folder, a line in `kinds.ts` and a member of the contract's union.
 */
export function plantsThatDoNotCompile(
  core: Core,
  attempt: TriedAttempt,
  proof: DocumentChipProof,
  chosen: Parameters<typeof sharedData>[1],
): void {
  // What is meant compiles.
  const judged = { step: "face", number: 1, riskScore: 0 } as const;
  void recordTry(core, attempt, { ...judged, verdict: { failureCode: null }, proof });
  void recordTry(core, attempt, { ...judged, verdict: { failureCode: "liveness_failed" } });
  void (documentChip satisfies DocumentChip);

  // A kind that leaves out a part of the set.
  const { claims: _claims, ...withoutClaims } = documentChip;
  // @ts-expect-error
  void (withoutClaims satisfies DocumentChip);
  const { evidence: _evidence, ...withoutEvidence } = documentChip;
  // @ts-expect-error
  void (withoutEvidence satisfies DocumentChip);
  const { overwriteProof: _overwrite, ...withoutOverwriting } = documentChip;
  // @ts-expect-error
  void (withoutOverwriting satisfies DocumentChip);
  // @ts-expect-error: without a step there is nothing to pass.
  void ({ ...documentChip, steps: [] } satisfies DocumentChip);
  const unstaged = [{ name: "iris", maxTries: 3, forgivesChallenges: false }] as const;
  // @ts-expect-error: every step leads to a stage of the figures.
  void ({ ...documentChip, steps: unstaged } satisfies DocumentChip);

  // What the contract does not know.
  // @ts-expect-error
  void ({ ...documentChip, methods: ["iris_scan"] } satisfies DocumentChip);
  // @ts-expect-error
  void ({ ...documentChip, failureCodes: ["iris_mismatch"] } satisfies DocumentChip);
  const ofNoMember = () => ({ method: "iris" as const, verified_at: "" });
  // @ts-expect-error
  void ({ ...documentChip, evidence: ofNoMember } satisfies DocumentChip);

  // What `kinds.ts` does not list.
  // @ts-expect-error
  void recordTry(core, attempt, { ...judged, step: "iris", verdict: { failureCode: null }, proof });
  const ofIris = { kind: "iris" as const, code: new Uint8Array() };
  // @ts-expect-error
  void recordTry(core, attempt, { ...judged, verdict: { failureCode: null }, proof: ofIris });
  // @ts-expect-error
  void sharedData(ofIris, chosen);

  // A refusal proves nothing.
  // @ts-expect-error
  void recordTry(core, attempt, { ...judged, verdict: { failureCode: "liveness_failed" }, proof });
}

test("each method has at most one kind, and the names of steps, stages and kinds are unique", () => {
  const all = Object.values(kinds);
  const unique = (names: readonly string[]) => assert.equal(new Set(names).size, names.length, names.join());
  unique(all.flatMap((kind) => kind.methods));
  unique(all.flatMap(({ steps }) => steps.map(({ name }) => name)));
  unique(all.flatMap(({ steps }) => steps.map(({ stage }) => stage.name)));
  for (const method of all.flatMap((kind) => kind.methods)) assert.ok(methods.includes(method));
});

test("every failure code of the contract is one that a kind can end with, and version 1 has none of wallets", () => {
  const known = new Set<string>(Object.values(kinds).flatMap((kind) => kind.failureCodes));
  assert.ok(!(documentChip.failureCodes as readonly string[]).includes("holder_binding_failed"));
  assert.deepEqual(
    [...failureCodes].filter((code) => !known.has(code)),
    [],
  );
});

/** The wire names of tries and evidence, and the columns of the previous release, which `steps` replaces. */
const wireNames = /nfc_?tries_?used|liveness_?tries_?used|chip_passed_at|face_checks|"chip_and_face"/gi;

test("sessions and the recording of a try name no kind, but for the wire's own names", () => {
  const folder = new URL("../../src/verification/", import.meta.url).pathname;
  const files = globSync(["sessions/*.ts", "attempts/{record-try,try}.ts", "evidence/*.ts"], { cwd: folder });
  assert.ok(files.length > 25, files.join());
  // The list of kinds, and the view of their tries that the wire has.
  const naming = ["evidence/kinds.ts", "sessions/tries.ts"];
  for (const file of files.filter((name) => !name.endsWith(".test.ts") && !naming.includes(name))) {
    const text = readFileSync(folder + file, "utf8").replaceAll(wireNames, "");
    assert.equal(/.*(chip|\bface|nfc|liveness).*/i.exec(text)?.[0], undefined, file);
  }
});
