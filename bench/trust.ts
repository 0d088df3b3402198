import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { toBase64 } from "@assay/emrtd/base64";
import { testDocuments } from "@assay/emrtd/node/test-country/catalogue";
import { issueCertificate } from "@assay/emrtd/node/test-country/issue-certificate";
import { ecSigningKey } from "@assay/emrtd/node/test-country/signing-key";
import {
  createTestCountry,
  defaultTestSeed,
  testCountryTrust,
} from "@assay/emrtd/node/test-country/test-country";
import { median } from "@assay/face/median";
import type { Db } from "../apps/server/src/platform/db/db.ts";
import { migrate } from "../apps/server/src/platform/db/migrate.ts";
import { sql } from "../apps/server/src/platform/db/sql.ts";
import { anyone } from "../apps/server/src/platform/lib/waiting-line.ts";
import { ChipExaminer } from "../apps/server/src/verification/attempts/chip-examiner.ts";
import type { SentFiles } from "../apps/server/src/verification/attempts/chip-task.ts";
import { CurrentTrust } from "../apps/server/src/verification/trust/current-trust.ts";
import {
  changeTrust,
  insertImport,
  retireImports,
} from "../apps/server/src/verification/trust/trust.store.ts";
import { importTrustFile } from "../apps/server/src/verification/trust/trust-command.ts";
import { openDatabase } from "./support/database.ts";
import { withPostgres } from "./support/with-postgres.ts";

const now = new Date("2026-11-15T12:00:00Z");
const certificates = 600;

/**
 * Three measurements. Import of 600 certificates against the bare insertion of as many rows of their size.
 * The delay from a commit until another process sees the change. `--verdicts N` (10,000) verdicts of two
 * examiners while lists change, each compared with the version that it names.
 */
export async function run(options: readonly string[] = []): Promise<void> {
  const given = options.indexOf("--verdicts");
  const verdicts = given === -1 ? 10_000 : Number(options[given + 1]);
  await withPostgres(async ({ folder, databaseUrl }) => {
    const dbs = [openDatabase(databaseUrl), openDatabase(databaseUrl)] as const;
    try {
      await migrate(databaseUrl);
      await measureImport(dbs[0], folder);
      await measureReach(...dbs);
      await judgeWhileListsChange(dbs, verdicts);
    } finally {
      for (const db of dbs) await db.close();
    }
  });
}

async function measureImport(db: Db, folder: string): Promise<void> {
  const blocks = Array.from({ length: certificates }, (_, index) => {
    const name = { country: "UT", organization: "Bench", commonName: `CSCA ${index}` };
    const key = ecSigningKey("bench", `authority ${index}`, "secp256r1", { explicitParameters: false });
    const issuer = { name, key, scheme: { kind: "ecdsa", hash: "SHA-256" } } as const;
    return issueCertificate({
      issuer,
      subject: name,
      subjectKey: key,
      serial: Uint8Array.of(0x40, index >> 8, index & 0xff),
      validity: { notBefore: new Date("2020-01-01"), notAfter: new Date("2040-01-01") },
      use: "authority",
    });
  });
  const file = join(folder, "all.pem");
  await writeFile(
    file,
    blocks
      .map((der) => `-----BEGIN CERTIFICATE-----\n${toBase64(der)}\n-----END CERTIFICATE-----\n`)
      .join(""),
  );
  const start = performance.now();
  await importTrustFile(db, { file, rootFiles: [], pinnedSha256: [], now }, () => {});
  const took = performance.now() - start;
  const bareStart = performance.now();
  await db.run(sql`
    with rows as (select * from unnest(${blocks.map((_, index) => String(index))}::text[], ${blocks.map((der) => Buffer.from(der))}::bytea[]))
    select count(*) from rows`);
  const bare = performance.now() - bareStart;
  console.log(
    `import of ${certificates} certificates: ${took.toFixed(0)} ms, checked and stored (sending the bytes alone: ${bare.toFixed(0)} ms)`,
  );
}

/**
 * The other process polls without pause, like verdicts do.
 * Measures from the end of the commit to the first answer with the change.
 */
async function measureReach(first: Db, second: Db): Promise<void> {
  const trust = new CurrentTrust(second);
  const times: number[] = [];
  for (let i = 0; i < 50; i++) {
    const { version } = await trust.snapshot();
    const seen = (async () => {
      while ((await trust.snapshot()).version === version);
      return performance.now();
    })();
    await changeTrust(first, now, "command", async () => [{ act: "imported", subject: "", detail: "" }]);
    const committed = performance.now();
    times.push((await seen) - committed);
  }
  console.log(
    `a change is seen by another process ${median(times).toFixed(1)} ms after its commit (most ${Math.max(...times).toFixed(1)} ms)`,
  );
}

async function judgeWhileListsChange(dbs: readonly [Db, Db], verdicts: number): Promise<void> {
  const [record] = testCountryTrust(createTestCountry(defaultTestSeed, now));
  if (record === undefined) throw new Error("the test country has no record");
  const lists = {
    source: { ...record.source, label: "lists", sha256: "1".repeat(64) },
    certificates: [],
    revocationLists: record.revocationLists,
  };
  const [db] = dbs;
  const act = { act: "imported", subject: "", detail: "" } as const;
  await changeTrust(db, now, "command", async (tx) => {
    await insertImport(tx, { ...record, revocationLists: [] }, 0, "command");
    return [act];
  });
  const document = testDocuments(now).find(({ id }) => id === "passport-revoked-signer");
  const files = document?.files as SentFiles;
  const first = (await new CurrentTrust(db).snapshot()).version;
  const judge = async (each: Db) => {
    const trust = new CurrentTrust(each);
    const examiner = new ChipExaminer({ threads: 1 });
    const counted = { explained: 0, unexplained: 0 };
    for (let i = 0; i < verdicts / dbs.length; i++) {
      const snapshot = await trust.snapshot();
      const { failureCode } = await examiner.verify(
        { trust: snapshot, files, now },
        { ...anyone, onBusy: () => {} },
      );
      const listed = (snapshot.version - first) % 2 === 1;
      counted[listed === (failureCode !== null) ? "explained" : "unexplained"] += 1;
    }
    await examiner.close();
    return counted;
  };
  let changes = 0;
  let judging = true;
  const change = async () => {
    while (judging) {
      await changeTrust(db, now, "command", async (tx) => {
        if (changes % 2 === 0) await insertImport(tx, lists, 0, "command");
        else await retireImports(tx, lists.source.sha256, now);
        return [act];
      });
      changes += 1;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  };
  const [counted] = await Promise.all([
    Promise.all(dbs.map(judge)).finally(() => {
      judging = false;
    }),
    change(),
  ]);
  const sum = (kind: "explained" | "unexplained") => counted.reduce((all, each) => all + each[kind], 0);
  console.log(
    `${sum("explained")} verdicts while what is trusted changed ${changes} times: ${sum("unexplained")} not explained by their version`,
  );
}
