import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { personalise } from "@assay/emrtd/node/test-country/personalise";
import { readPortrait } from "@assay/emrtd/node/test-country/portraits";
import { signerProfile } from "@assay/emrtd/node/test-country/signer-profiles";
import { createTestCountry, defaultTestSeed } from "@assay/emrtd/node/test-country/test-country";
import { defaultPolicy } from "@assay/emrtd/verify/policy";
import type { TestDocument } from "@assay/emrtd/virtual/test-document";
import {
  importTrustFile,
  listTrust,
  listTrustImports,
  printTrustAudit,
  printTrustStatus,
} from "../../src/verification/trust/trust-command.ts";
import type { TestService } from "./service.ts";

/** A passport that the test country signed with SHA-1. */
export function weaklySigned(now: Date): Pick<TestDocument, "files" | "chip"> {
  return personalise({
    country: createTestCountry(defaultTestSeed, now),
    profile: signerProfile("rsa-2048-sha1"),
    can: "123456",
    portrait: readPortrait("adult.jpg"),
    mrz: {
      format: "TD3",
      documentCode: "P",
      issuingState: "UTO",
      nationality: "UTO",
      documentNumber: "WEAK00001",
      dateOfBirth: "900101",
      dateOfExpiry: "331231",
      sex: "X",
      primaryName: "Weak",
    },
  });
}

/** Runs commands on what a service trusts, and gives what they print. */
export async function operatorOf(
  t: TestContext,
  { core: { db }, clock }: Pick<TestService, "core" | "clock">,
) {
  const folder = await mkdtemp(join(tmpdir(), "deviations-"));
  t.after(() => rm(folder, { recursive: true }));
  const printed = async (work: (print: (line: string) => void) => Promise<number>) => {
    const lines: string[] = [];
    await work((line) => lines.push(line));
    return lines.join("\n");
  };
  return {
    bring: async (name: string, bytes: Uint8Array) => {
      const file = join(folder, name);
      await writeFile(file, bytes);
      const request = { file, rootFiles: [], pinnedSha256: [], now: clock.now() };
      return printed((print) => importTrustFile(db, request, print));
    },
    list: () => printed((print) => listTrust(db, { now: clock.now() }, print)),
    imports: () => printed((print) => listTrustImports(db, print)),
    audit: () => printed((print) => printTrustAudit(db, defaultPolicy, clock.now(), print)),
    status: () => printed((print) => printTrustStatus(db, clock.now(), print)),
  };
}
