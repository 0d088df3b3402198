import assert from "node:assert/strict";
import test from "node:test";
import type { CardReaders } from "@assay/emrtd/node/pcsc";
import { createNodeSignatureChecker } from "@assay/emrtd/node/signature-checker";
import { testDocuments } from "@assay/emrtd/node/test-country/catalogue";
import {
  createTestCountry,
  defaultTestSeed,
  testCountryTrust,
} from "@assay/emrtd/node/test-country/test-country";
import { TrustStore } from "@assay/emrtd/trust/trust-store";
import { defaultPolicy } from "@assay/emrtd/verify/policy";
import { createVirtualChip } from "@assay/emrtd/virtual/virtual-chip";
import { judgeDocument } from "./judge-document.ts";
import { readDocumentAtDesk } from "./read-document.ts";

const today = new Date("2026-11-15T12:00:00Z");
const checker = createNodeSignatureChecker();
const trust = new TrustStore(testCountryTrust(createTestCountry(defaultTestSeed, today)), checker);

for (const document of testDocuments(today)) {
  test(`at the desk the test document "${document.id}" ends as the catalogue says`, async () => {
    const chip = createVirtualChip({ files: document.files, ...document.chip });
    const readers: CardReaders = {
      list: async () => [{ name: "Desk", cardPresent: true, atr: new Uint8Array(0) }],
      connect: async () => ({ transport: chip, disconnect: async () => {} }),
      close: async () => {},
    };
    const lines: string[] = [];
    const read = () =>
      readDocumentAtDesk(
        { accessKey: { mrz: document.chip.mrzKey }, waitSeconds: 0 },
        {
          readers,
          judge: judgeDocument({ trust, policy: defaultPolicy, checker, now: today }),
          print: (line) => lines.push(line),
          delay: async () => {},
          now: () => today,
        },
      );
    const decidedHere = document.decidedBy === "chip" ? document.expectedFailureCode : null;
    assert.equal(await read(), decidedHere === null, lines.join("\n"));
    const expected = decidedHere?.replaceAll("_", " ");
    assert.match(
      lines.at(-1) ?? "",
      expected === undefined ? /^The data is authentic/ : new RegExp(expected),
    );
  });
}
