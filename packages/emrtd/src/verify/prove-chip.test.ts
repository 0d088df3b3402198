import assert from "node:assert/strict";
import { test } from "node:test";
import { specimen, utopia } from "../../test/support/test-country.ts";
import { secureRandom } from "../crypto/random.ts";
import { personalise } from "../node/test-country/personalise.ts";
import { readPortrait } from "../node/test-country/portraits.ts";
import { signerProfile } from "../node/test-country/signer-profiles.ts";
import { carryCommands } from "../reader/carry-commands.ts";
import { openChip } from "../reader/open-chip.ts";
import { createVirtualChip } from "../virtual/virtual-chip.ts";
import { beginChipProof, type ChipProofState, continueChipProof, overwriteChipProof } from "./prove-chip.ts";
import type { ChipProof } from "./report.ts";

const { files, chip } = personalise({
  country: utopia,
  can: "123456",
  portrait: readPortrait("adult.jpg"),
  profile: signerProfile("brainpoolP256r1-sha256-explicit"),
  mrz: specimen,
  chipAuthentication: "ecdh_aes128",
  activeAuthentication: "rsa",
});

/** Server and device around a chip; gives the verdict, and the states in between. */
async function prove(proof: ChipProof, clone: boolean) {
  const opened = await openChip(createVirtualChip({ files, ...chip, clone }), { mrz: chip.mrzKey });
  const states: ChipProofState[] = [];
  let step = beginChipProof(proof, files, secureRandom);
  while (step.kind === "ask") {
    assert.ok(states.length < 5, "the proof does not end");
    states.push(step.state);
    const answers = await carryCommands(opened, step.ask);
    step = continueChipProof(step.state, answers, files, secureRandom);
  }
  return { verdict: step.verdict, states };
}

for (const proof of ["chip_authentication", "active_authentication"] as const)
  test(`${proof} tells a chip from its copy, and every state says which proof it is of`, async () => {
    const genuine = await prove(proof, false);
    assert.deepEqual([genuine.verdict.proof, genuine.verdict.passed], [proof, true]);
    assert.ok(genuine.states.every((state) => state.proof === proof));
    const copy = await prove(proof, true);
    assert.deepEqual([copy.verdict.proof, copy.verdict.passed], [proof, false]);
    assert.equal(typeof copy.verdict.reason, "string");
  });

test("a state that is no longer needed holds nothing secret once it is overwritten", async () => {
  for (const proof of ["chip_authentication", "active_authentication"] as const)
    for (const state of (await prove(proof, false)).states) {
      const secrets = Object.values(state).filter((value) => value instanceof Uint8Array);
      assert.ok(secrets.length > 0 && secrets.every((bytes) => bytes.some((byte) => byte !== 0)));
      overwriteChipProof(state);
      assert.ok(secrets.every((bytes) => bytes.every((byte) => byte === 0)));
      assert.equal(state.proof, proof);
    }
});

test("to ask for a proof without the group that holds its key is a mistake of the program", () => {
  assert.throws(() => beginChipProof("chip_authentication", {}, secureRandom), TypeError);
  const asked = beginChipProof("active_authentication", {}, secureRandom);
  assert.ok(asked.kind === "ask");
  assert.throws(() => continueChipProof(asked.state, [], {}, secureRandom), TypeError);
});
