import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import {
  createTestCountry,
  defaultTestSeed,
  testCountryTrust,
} from "@assay/emrtd/node/test-country/test-country";
import type { TrustRecord } from "@assay/emrtd/trust/trust-record";
import { openDb } from "../../../src/platform/db/db.ts";
import { sql } from "../../../src/platform/db/sql.ts";
import { anyone } from "../../../src/platform/lib/waiting-line.ts";
import { ChipExaminer } from "../../../src/verification/attempts/chip-examiner.ts";
import type { SentFiles } from "../../../src/verification/attempts/chip-task.ts";
import { CurrentTrust } from "../../../src/verification/trust/current-trust.ts";
import { changeTrust, insertImport, retireImports } from "../../../src/verification/trust/trust.store.ts";
import { type Api, createPartner } from "../../support/api.ts";
import { createTestDatabase } from "../../support/database.ts";
import { startTestService, type TestService } from "../../support/service.ts";
import { claimedSession, TestDevice, testDocument, trustTestCountry } from "../../support/verify-device.ts";

/** What a device hears that reads this document for a live session at this service. */
async function verdictAt(t: TestContext, service: TestService, api: Api, id: string): Promise<string> {
  const { sessionId, socketToken } = await claimedSession(api);
  await service.core.db.run(sql`update sessions set sandbox = false where id = ${sessionId}`);
  const device = await TestDevice.connect(service.url, sessionId, socketToken);
  t.after(() => device.connection.close());
  await device.expect("welcome");
  const message = await device.passChip(testDocument(id, service.clock.now()));
  if (message.type === "fault") return message.code;
  assert.ok(message.type === "step_result");
  return message.passed ? "passed" : (message.failure_code ?? "failed");
}

test("what is imported at one process decides at the other, which has a separate data folder", async (t) => {
  const first = await startTestService({ verify: { faceJudge: null, examiner: { threads: 1 } } });
  const second = await startTestService({
    databaseUrl: first.databaseUrl,
    clock: first.clock,
    verify: { faceJudge: null, examiner: { threads: 1 } },
  });
  assert.notEqual(first.dataDir, second.dataDir);
  const { api } = await createPartner(first.api);
  const verdicts = async (id: string) => [
    await verdictAt(t, first, api, id),
    await verdictAt(t, second, api, id),
  ];
  assert.deepEqual(await verdicts("passport-valid"), ["TRUST_STORE_EMPTY", "TRUST_STORE_EMPTY"]);
  await trustTestCountry(second);
  assert.deepEqual(await verdicts("passport-valid"), ["passed", "passed"]);
  assert.deepEqual(await verdicts("passport-revoked-signer"), [
    "document_authenticity_failed",
    "document_authenticity_failed",
  ]);
  for (const { logLines } of [first, second]) {
    const judged = logLines
      .map((line) => JSON.parse(line))
      .filter(({ message }) => message === "a document was judged");
    assert.deepEqual(
      judged.map(({ verdict, trust_version }) => [verdict, trust_version]),
      [
        ["passed", "1"],
        ["document_authenticity_failed", "1"],
      ],
      "the log names the version that a verdict was made with",
    );
  }
  assert.ok(
    first.core.metrics
      .render()
      .includes('assay_document_verdicts_total{verdict="passed",trust_version="1"} 1'),
  );
});

test("verdicts that are made while lists come and go all follow from the version that they name", async (t) => {
  const now = new Date("2026-05-05T00:00:00Z");
  const database = await createTestDatabase();
  const processes = [0, 1].map(() => {
    const db = openDb({ url: database.url, poolSize: 4, onError: () => {} });
    return { db, trust: new CurrentTrust(db), examiner: new ChipExaminer({ threads: 1 }) };
  });
  t.after(async () => {
    for (const { db, examiner } of processes) await Promise.all([db.close(), examiner.close()]);
    await database.drop();
  });
  const [{ db } = assert.fail()] = processes;
  const [record] = testCountryTrust(createTestCountry(defaultTestSeed, now));
  assert.ok(record !== undefined);
  const lists: TrustRecord = {
    source: { ...record.source, label: "lists", sha256: "1".repeat(64) },
    certificates: [],
    revocationLists: record.revocationLists,
  };
  const act = { act: "imported", subject: "", detail: "" } as const;
  await changeTrust(db, now, "command", async (tx) => {
    await insertImport(tx, { ...record, revocationLists: [] }, 0, "command");
    return [act];
  });
  // With an even version the signer is on a revocation list, with an odd one there is no list.
  const toggle = (version: number) =>
    changeTrust(db, now, "command", async (tx) => {
      if (version % 2 === 0) await insertImport(tx, lists, 0, "command");
      else await retireImports(tx, lists.source.sha256, now);
      return [act];
    });
  const files = testDocument("passport-revoked-signer", now).files as SentFiles;
  const counts = { passed: 0, failed: 0 };
  let known = 1;
  let judging = true;
  const judge = async ({ trust, examiner }: (typeof processes)[number]) => {
    for (let i = 0; i < 60; i++) {
      const least = known;
      const snapshot = await trust.snapshot();
      assert.ok(snapshot.version >= least, "a change that was made is seen at once");
      const { failureCode } = await examiner.verify(
        { trust: snapshot, files, now },
        { ...anyone, onBusy: () => {} },
      );
      assert.equal(failureCode, snapshot.version % 2 === 0 ? "document_authenticity_failed" : null);
      counts[failureCode === null ? "passed" : "failed"] += 1;
    }
  };
  const change = async () => {
    while (judging) {
      await toggle(known + 1);
      known += 1;
    }
  };
  await Promise.all([
    Promise.all(processes.map(judge)).finally(() => {
      judging = false;
    }),
    change(),
  ]);
  assert.ok(known > 10 && counts.passed > 0 && counts.failed > 0, JSON.stringify({ known, counts }));
});
