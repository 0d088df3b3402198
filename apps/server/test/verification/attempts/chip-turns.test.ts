import assert from "node:assert/strict";
import { after, test } from "node:test";
import { sendFiles } from "@assay/device/send-artifacts";
import { oids } from "@assay/emrtd/ber/oid";
import { bitString, integer, oid, sequence, unsignedInteger } from "@assay/emrtd/ber/write";
import { uintBytes } from "@assay/emrtd/bytes";
import { knownSafePrimes } from "@assay/emrtd/crypto/known-primes";
import type { DataGroupNumber } from "@assay/emrtd/lds/data-group";
import { buildDg14 } from "@assay/emrtd/lds/dg14";
import { signSecurityObject } from "@assay/emrtd/node/test-country/sign-message";
import { signerProfile } from "@assay/emrtd/node/test-country/signer-profiles";
import { createTestCountry, defaultTestSeed } from "@assay/emrtd/node/test-country/test-country";
import { type ChipPool, openChipThreads } from "../../../src/verification/attempts/chip-examiner.ts";
import { createPartner } from "../../support/api.ts";
import { startTestService } from "../../support/service.ts";
import { claimedSession, TestDevice, testDocument } from "../../support/verify-device.ts";

const costly = 12;

const threads = openChipThreads({ threads: 1 });
after(() => threads.close());
const asked: (() => void)[] = [];
const served: (string | null)[] = [];
/** One thread, which starts when all documents have arrived, so that only their order matters. */
const pool: ChipPool = {
  get waiting() {
    return threads.waiting;
  },
  async run(task, who) {
    if (task.kind === "verify") {
      await new Promise<void>((resolve) => {
        asked.push(resolve);
        if (asked.length === costly + 1) for (const begin of asked) begin();
      });
    }
    const answer = await threads.run(task, who);
    if (task.kind === "verify") served.push(who.organization);
    return answer;
  },
  close: async () => {},
};

const service = await startTestService({ verify: { examiner: { pool } }, machines: 1 });
const now = service.clock.now();
const valid = testDocument("passport-valid", now);

/** A prime of 4096 bits that is in no standard: the first below the one of RFC 3526. */
const unknownPrime = ([...knownSafePrimes()].find(([, name]) => name === "RFC 3526 4096")?.[0] ?? 0n) - 1918n;

/** Signed by the test country, whose keys are public, with a group that has to be judged at length. */
function costlyDocument(generator: bigint): Record<string, Uint8Array> {
  const group = sequence(oid(oids.dhKeyAgreement), sequence(integer(unknownPrime), integer(generator)));
  const publicKey = bitString(unsignedInteger(uintBytes(unknownPrime - 5n, 512)));
  const dg14 = buildDg14([
    { kind: "chipAuthentication", protocol: oids.chipAuthenticationDhAes128, version: 1 },
    {
      kind: "chipAuthenticationPublicKey",
      protocol: oids.publicKeyDh,
      subjectPublicKeyInfo: sequence(group, publicKey),
    },
  ]);
  const { COM, DG1, DG2 } = valid.files;
  assert.ok(COM !== undefined && DG1 !== undefined && DG2 !== undefined);
  const country = createTestCountry(defaultTestSeed, now);
  const profile = signerProfile("rsa-2048-sha256");
  const dataGroups = new Map<DataGroupNumber, Uint8Array>([
    [1, DG1],
    [2, DG2],
    [14, dg14],
  ]);
  const Sod = signSecurityObject({
    groupHash: profile.groupHash,
    dataGroups,
    signer: country.documentSigner(profile),
    options: { signedAt: country.signedAt, identifySignerBy: "issuer_and_serial" },
  });
  return { COM, DG1, DG2, DG14: dg14, SOD: Sod };
}

test("the document of another organization is examined next, however many costly ones wait before it", async (t) => {
  const hostile = await createPartner(service.api);
  const other = await createPartner(service.api);
  const connect = async (partner: typeof other) => {
    const { sessionId, socketToken } = await claimedSession(partner.api);
    const device = await TestDevice.connect(service.url, sessionId, socketToken);
    t.after(() => device.connection.close());
    await device.expect("welcome");
    return device;
  };
  const devices: TestDevice[] = [];
  for (let n = 0; n < costly; n++) {
    const device = await connect(hostile);
    sendFiles(device.connection, costlyDocument(BigInt(n + 2)), 1);
    while (asked.length <= n) await new Promise(setImmediate);
    devices.push(device);
  }
  const device = await connect(other);
  const passed = await device.passChip(valid);
  assert.equal(passed.type, "step_result");
  // The chip is asked for a proof with the group, so the group was judged.
  for (const costlyOne of devices) await costlyOne.expect("chip_command");
  assert.deepEqual(served, [
    hostile.organizationId,
    other.organizationId,
    ...Array.from({ length: costly - 1 }, () => hostile.organizationId),
  ]);
});
