import assert from "node:assert/strict";
import { test } from "node:test";
import { verifyActiveAuthentication } from "../src/active-authentication/verify-active-authentication.ts";
import { toHex } from "../src/bytes.ts";
import { chipAuthenticationOffers } from "../src/chip-authentication/chip-authentication-offer.ts";
import { secureRandom } from "../src/crypto/random.ts";
import { readDg1 } from "../src/lds/dg1.ts";
import { readDg15 } from "../src/lds/dg15.ts";
import { keyFieldsOf } from "../src/mrz/parse-mrz.ts";
import { paceOid } from "../src/pace/pace-protocol.ts";
import { carryCommands } from "../src/reader/carry-commands.ts";
import { openChip } from "../src/reader/open-chip.ts";
import { beginChipProof, continueChipProof } from "../src/verify/prove-chip.ts";
import { createVirtualChip, type VirtualChipOptions } from "../src/virtual/virtual-chip.ts";
import { seededRandom } from "./support/seeded-random.ts";
import { readVector, skipWithoutVectors } from "./support/vectors.ts";

function passport(options: Partial<VirtualChipOptions> = {}) {
  const file = (name: string) => readVector(`test-passport/${name}`);
  const files = {
    COM: file("EF_COM.bin"),
    SOD: file("EF_SOD.bin"),
    DG1: file("Datagroup1.bin"),
    DG2: file("Datagroup2.bin"),
    DG14: file("Datagroup14.bin"),
    DG15: file("Datagroup15.bin"),
  };
  const mrz = keyFieldsOf(readDg1(files.DG1, new Date("2026-01-01T00:00:00Z")));
  const chip = createVirtualChip({
    files,
    mrzKey: mrz,
    chipAuthentication: [{ privateKey: file("DG14_sk.pkcs8") }],
    activeAuthentication: { privateKey: file("DG15_sk.pkcs8") },
    random: seededRandom("test passport"),
    ...options,
  });
  return { files, mrz, chip };
}

test("independent vectors: the test passport is read from its software chip byte for byte", {
  skip: skipWithoutVectors,
}, async () => {
  const pace = [{ oid: paceOid("ECDH", "generic", "AES-128"), parameterId: 13 }];
  for (const options of [{}, { pace }]) {
    const { files, mrz, chip } = passport(options);
    const opened = await openChip(chip, { mrz });
    for (const name of ["COM", "SOD", "DG1", "DG2", "DG14", "DG15"] as const) {
      assert.equal(toHex(await opened.readFile(name)), toHex(files[name]), name);
    }
  }
});

test("independent vectors: the test passport's key for chip authentication proves the chip, and a copy fails", {
  skip: skipWithoutVectors,
}, async () => {
  for (const clone of [false, true]) {
    const { files, mrz, chip } = passport({ clone });
    const opened = await openChip(chip, { mrz });
    const [offer] = chipAuthenticationOffers(await opened.readFile("DG14"));
    assert.deepEqual([offer?.domain.name, offer?.suite.name], ["brainpoolP224r1", "3DES"]);
    let step = beginChipProof("chip_authentication", files, secureRandom);
    while (step.kind === "ask")
      step = continueChipProof(step.state, await carryCommands(opened, step.ask), files, secureRandom);
    assert.equal(step.verdict.passed, !clone);
  }
});

test("independent vectors: the test passport's key for active authentication signs what DG15 verifies", {
  skip: skipWithoutVectors,
}, async () => {
  const { files, mrz, chip } = passport();
  const opened = await openChip(chip, { mrz });
  const publicKey = readDg15(files.DG15);
  const random = seededRandom("challenges");
  for (let round = 0; round < 8; round++) {
    const challenge = random(8);
    const signature = await opened.activeAuthentication(challenge);
    const verdict = verifyActiveAuthentication({ publicKey, challenge, signature });
    assert.deepEqual(verdict, {
      verified: true,
      keyKind: "RSA",
      keyBits: 1024,
      hash: "SHA-1",
      encoding: "iso-9796-2",
    });
    assert.equal(verifyActiveAuthentication({ publicKey, challenge: random(8), signature }).verified, false);
  }
});
