import assert from "node:assert/strict";
import test, { after } from "node:test";
import type { CardReaders } from "@assay/emrtd/node/pcsc";
import { createNodeSignatureChecker } from "@assay/emrtd/node/signature-checker";
import { testDocuments } from "@assay/emrtd/node/test-country/catalogue";
import { type PersonalisationRequest, personalise } from "@assay/emrtd/node/test-country/personalise";
import { readPortrait } from "@assay/emrtd/node/test-country/portraits";
import { signerProfile } from "@assay/emrtd/node/test-country/signer-profiles";
import {
  createTestCountry,
  defaultTestSeed,
  testCountryTrust,
} from "@assay/emrtd/node/test-country/test-country";
import { carryCommands } from "@assay/emrtd/reader/carry-commands";
import { openChip } from "@assay/emrtd/reader/open-chip";
import { readDocument } from "@assay/emrtd/reader/read-document";
import { TrustStore } from "@assay/emrtd/trust/trust-store";
import { parsePolicy } from "@assay/emrtd/verify/parse-policy";
import type { TestDocument } from "@assay/emrtd/virtual/test-document";
import { createVirtualChip } from "@assay/emrtd/virtual/virtual-chip";
import { anyone } from "../../platform/lib/waiting-line.ts";
import { ChipExaminer, openChipThreads } from "../attempts/chip-examiner.ts";
import { documentCheckWithProof } from "../attempts/chip-task.ts";
import { judgeDocument } from "./judge-document.ts";
import { readDocumentAtDesk } from "./read-document.ts";

const now = new Date("2026-11-15T12:00:00Z");
const country = createTestCountry(defaultTestSeed, now);
const checker = createNodeSignatureChecker();
const trust = new TrustStore(testCountryTrust(country), checker);
const pool = openChipThreads({ threads: 1 });

after(async () => {
  await pool.close();
});

type Document = Pick<TestDocument, "files" | "chip">;

/** Words, as the desk prints them. */
type Judgement = {
  accepted: boolean;
  failure: string | null;
  level: string | null;
  warnings: readonly string[];
};

const levels: Readonly<Record<string, string>> = {
  "The data is authentic; the chip has not proved itself yet.": "data authentic",
  "The data is authentic and the chip is genuine.": "chip genuine",
  "The data is authentic. The document offers no proof against copies of its chip.": "chip clonable",
};

async function judgedAtDesk({ files, chip }: Document, policy: string): Promise<Judgement> {
  const transport = createVirtualChip({ files, ...chip });
  const readers: CardReaders = {
    list: async () => [{ name: "Desk", cardPresent: true, atr: new Uint8Array(0) }],
    connect: async () => ({ transport, disconnect: async () => {} }),
    close: async () => {},
  };
  const lines: string[] = [];
  const accepted = await readDocumentAtDesk(
    { accessKey: { mrz: chip.mrzKey }, waitSeconds: 0 },
    {
      readers,
      judge: judgeDocument({ trust, policy: parsePolicy(policy), checker, now }),
      print: (line) => lines.push(line),
      delay: async () => {},
      now: () => now,
    },
  );
  const last = lines.at(-1) ?? "";
  return {
    accepted,
    failure: /^Refused: (.*)\.$/.exec(last)?.[1] ?? null,
    level: levels[last] ?? null,
    warnings: lines.flatMap((line) => /^warning [a-z ]+: (.*)$/.exec(line)?.[1] ?? []),
  };
}

/** The device of the service carries the commands, as the socket's other end does. */
async function judgedByService({ files, chip }: Document, policy: string): Promise<Judgement> {
  const examiner = new ChipExaminer({ pool, policy });
  const opened = await openChip(createVirtualChip({ files, ...chip }), { mrz: chip.mrzKey });
  const read = await readDocument(opened, now);
  const wait = { ...anyone, onBusy: () => {} };
  let check = await examiner.verify({ trust: "test_country", files: read, now }, wait);
  if (check.proof !== null) {
    let step = await examiner.beginProof(check.proof, read, wait);
    while (step.kind === "ask")
      step = await examiner.continueProof(step.state, await carryCommands(opened, step.ask), read, wait);
    check = documentCheckWithProof(check, step.verdict);
  }
  const words = (name: string) => name.replaceAll("_", " ");
  return {
    accepted:
      check.failureCode === null && (check.level === "chip_genuine" || check.level === "chip_clonable"),
    failure: check.failureCode === null ? null : words(check.failureCode),
    level: check.level === null ? null : words(check.level),
    warnings: check.warnings.map(words),
  };
}

function passport(dateOfBirth: string, options: Partial<PersonalisationRequest>): Document {
  return personalise({
    country,
    profile: signerProfile("brainpoolP256r1-sha256-explicit"),
    can: "123456",
    portrait: readPortrait("adult.jpg"),
    mrz: {
      format: "TD3",
      documentCode: "P",
      issuingState: "UTO",
      nationality: "UTO",
      documentNumber: "UNKNOWN01",
      dateOfBirth,
      dateOfExpiry: "331231",
      sex: "X",
      primaryName: "Unknown",
    },
    ...options,
  });
}

const ofUnknownCurve = (options: Partial<PersonalisationRequest>) =>
  passport("900101", { chipAuthentication: "ecdh_unknown_curve", ...options });

/** Born 11 years ago, or 111. */
const ofUnknownCentury = (details?: PersonalisationRequest["details"]) =>
  passport("150701", {
    chipAuthentication: "ecdh_aes128",
    ...(details === undefined ? {} : { details }),
  });

const unsupported = ["chip authentication unsupported"];

test("the desk and the service judge every document of the test country alike", async (t) => {
  for (const document of testDocuments(now)) {
    await t.test(document.id, async () => {
      const [atDesk, byService] = [await judgedAtDesk(document, ""), await judgedByService(document, "")];
      assert.deepEqual(atDesk, byService);
      const expected = document.decidedBy === "chip" ? document.expectedFailureCode : null;
      assert.equal(byService.failure, expected?.replaceAll("_", " ") ?? null);
    });
  }
  const cases: readonly [string, Document, Judgement][] = [
    [
      "chip authentication on an unknown curve, and nothing else: the chip may be a copy",
      ofUnknownCurve({}),
      { accepted: true, failure: null, level: "chip clonable", warnings: unsupported },
    ],
    [
      "chip authentication on an unknown curve, and active authentication: the chip signs",
      ofUnknownCurve({ activeAuthentication: "ecdsa" }),
      { accepted: true, failure: null, level: "chip genuine", warnings: unsupported },
    ],
    [
      "chip authentication on an unknown curve, and a copy that cannot sign: refused",
      ofUnknownCurve({ activeAuthentication: "rsa", clone: true }),
      {
        accepted: false,
        failure: "document active authentication failed",
        level: null,
        warnings: unsupported,
      },
    ],
    [
      "PACE with the chip authentication mapping: the chip proves the key of EF.CardSecurity",
      passport("900101", { chipMapping: true }),
      { accepted: true, failure: null, level: "chip genuine", warnings: [] },
    ],
    [
      "PACE with the chip authentication mapping, and a copy that lacks the key: refused",
      passport("900101", { chipMapping: true, clone: true }),
      { accepted: false, failure: "document chip authentication failed", level: null, warnings: [] },
    ],
  ];
  for (const [name, document, expected] of cases) {
    await t.test(name, async () => {
      assert.deepEqual(await judgedAtDesk(document, ""), expected);
      assert.deepEqual(await judgedByService(document, ""), expected);
    });
  }
});

test("the desk and the service know the century of a birth from the same files", async (t) => {
  const cases: readonly [string, Document, readonly string[]][] = [
    ["DG11 names it: nothing is left open", ofUnknownCentury({ fullDateOfBirth: "19150701" }), []],
    ["nothing names it: both warn", ofUnknownCentury(), ["century of birth unknown"]],
  ];
  for (const [name, document, warnings] of cases) {
    await t.test(name, async () => {
      const expected = { accepted: true, failure: null, level: "chip genuine", warnings };
      const policy = "century_of_birth_unknown=warn";
      assert.deepEqual(await judgedAtDesk(document, policy), expected);
      assert.deepEqual(await judgedByService(document, policy), expected);
    });
  }
});
