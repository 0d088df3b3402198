import assert from "node:assert/strict";
import test from "node:test";
import type { Found } from "@assay/cli/checks";
import { judgeCertificate } from "@assay/cli/look-at-certificate";
import {
  judgeAttestation,
  judgeBackup,
  judgeClock,
  judgeDatabase,
  judgeDisk,
  judgeFaceWorker,
  judgeFolder,
  judgeJobs,
  judgeMailFiles,
  judgeNode,
  judgeOpenFiles,
  judgePooler,
  judgePublicUrl,
  judgeReading,
  judgeRing,
  judgeSchema,
  judgeTrust,
  judgeWebhooks,
} from "./judge-installation.ts";

const now = new Date("2026-11-16T12:00:00Z");
const before = (minutes: number) => new Date(now.getTime() - minutes * 60_000);
const day = 24 * 60;
const folder = { path: "/data", mode: 0o40700, isWritable: true, ringMode: 0o100600 };
const database = { version: "18.1", standby: false, read_only: false };
const migration = { name: "0001_a.sql", text: "", checksum: "x", leastCode: null };
const later = { name: "0002_b.sql", checksum: "z", leastCode: null };
const contracting = { name: "0002_b.sql", text: "-- phase: contract, code since 0001\n", checksum: "z" };
const trust = { authorities: 3, valid: 3, countries: 2, stale: 0, newestImport: before(day), sources: [] };
const source = { address: "https://pki.example", succeededAt: before(4 * day), problem: "no answer" };

const pooler = {
  pooler: "transaction",
  namesApart: true,
  direct: "none",
  preparedStatements: "named",
} as const;

/** Each with the state that it must get; the sentences are read from outside. */
const cases: readonly [what: string, found: Found, state: Found["state"]][] = [
  ["face workers without a network", judgeFaceWorker({ hasNetwork: false }), "ok"],
  [
    "face workers on a system that lets them keep the network",
    judgeFaceWorker({ hasNetwork: true }),
    "warning",
  ],
  ["the Node of the project", judgeNode("v24.21.0"), "ok"],
  ["an old Node", judgeNode("v22.1.0"), "problem"],
  ["a folder of one's own", judgeFolder(folder), "ok"],
  ["a folder that root's database passes through", judgeFolder({ ...folder, mode: 0o40711 }), "ok"],
  ["no folder", judgeFolder({ ...folder, mode: null }), "warning"],
  ["a folder that all can list", judgeFolder({ ...folder, mode: 0o40755 }), "warning"],
  ["a folder that cannot be written", judgeFolder({ ...folder, isWritable: false }), "problem"],
  ["a ring that others read", judgeFolder({ ...folder, ringMode: 0o100640 }), "problem"],
  ["attestation without a list of revoked keys", judgeAttestation(""), "warning"],
  ["attestation with one", judgeAttestation("/etc/assay/revoked.json"), "ok"],
  ["much room", judgeDisk({ free: 50e9, size: 100e9 }), "ok"],
  ["little room", judgeDisk({ free: 1e9, size: 100e9 }), "warning"],
  ["no room", judgeDisk({ free: 0.1e9, size: 100e9 }), "problem"],
  ["many files", judgeOpenFiles(65_536), "ok"],
  ["the usual number of files", judgeOpenFiles(1024), "warning"],
  ["few files", judgeOpenFiles(256), "problem"],
  ["a database", judgeDatabase(database), "ok"],
  ["an old database", judgeDatabase({ ...database, version: "14.9" }), "problem"],
  ["a standby", judgeDatabase({ ...database, standby: true }), "problem"],
  ["a pooler with a way past it", judgePooler(pooler), "ok"],
  ["no pooler", judgePooler({ ...pooler, pooler: "none", direct: null }), "ok"],
  ["a pooler for sessions", judgePooler({ ...pooler, pooler: "session", direct: null }), "ok"],
  ["a pooler for transactions alone", judgePooler({ ...pooler, direct: null }), "problem"],
  ["a way past that leads through", judgePooler({ ...pooler, direct: "transaction" }), "problem"],
  ["a pooler that mixes names", judgePooler({ ...pooler, namesApart: false }), "problem"],
  [
    "a pooler that never gets names",
    judgePooler({ ...pooler, namesApart: false, preparedStatements: "off" }),
    "ok",
  ],
  ["the schema of this version", judgeSchema([migration], [migration], []), "ok"],
  ["no schema", judgeSchema([migration], null, []), "warning"],
  ["no schema any more", judgeSchema([migration], null, ["SKIP_MIGRATIONS is true"]), "problem"],
  ["a missing migration", judgeSchema([migration], [], []), "problem"],
  ["an edited migration", judgeSchema([migration], [{ ...migration, checksum: "y" }], []), "problem"],
  ["a later schema", judgeSchema([migration], [migration, later], []), "warning"],
  [
    "a schema without what this needs",
    judgeSchema([migration], [migration, { ...later, leastCode: 2 }], []),
    "problem",
  ],
  ["a contraction that waits", judgeSchema([migration, contracting], [migration], []), "warning"],
  ["clocks together", judgeClock(-400), "ok"],
  ["clocks apart", judgeClock(2_000), "warning"],
  ["clocks far apart", judgeClock(-6_000), "problem"],
  ["mails by a server", judgeMailFiles("smtp://mail", ["a", "b"]), "ok"],
  ["mails as files on one machine", judgeMailFiles("", ["a"]), "ok"],
  ["mails as files on two machines", judgeMailFiles("", ["a", "b"]), "warning"],
  ["https", judgePublicUrl("https://id.example.com"), "ok"],
  ["this machine", judgePublicUrl("http://127.0.0.1:3000"), "ok"],
  ["no address", judgePublicUrl(""), "warning"],
  ["an app that reads", judgeReading({ apps: ["the Android app"], desks: false }), "ok"],
  ["desks that read", judgeReading({ apps: [], desks: true }), "ok"],
  ["nothing that reads", judgeReading({ apps: [], desks: false }), "warning"],
  ["http for others", judgePublicUrl("http://id.example.com"), "problem"],
  ["a name that only begins like this machine's", judgePublicUrl("http://localhost.evil.example"), "problem"],
  ["a ring that fits", judgeRing({ loaded: true, knownKeys: 1, misfits: [] }), "ok"],
  ["a first start", judgeRing({ loaded: false, knownKeys: 0, misfits: [] }), "warning"],
  ["a lost ring", judgeRing({ loaded: false, knownKeys: 1, misfits: [] }), "problem"],
  ["another ring", judgeRing({ loaded: true, knownKeys: 1, misfits: ["No."] }), "problem"],
  ["fresh trust", judgeTrust(trust, now), "ok"],
  ["no trust", judgeTrust({ ...trust, authorities: 0, valid: 0 }, now), "warning"],
  ["expired trust", judgeTrust({ ...trust, valid: 0 }, now), "problem"],
  ["an old trust list", judgeTrust({ ...trust, newestImport: before(91 * day) }, now), "warning"],
  ["stale revocation lists", judgeTrust({ ...trust, stale: 1 }, now), "warning"],
  ["a silent source", judgeTrust({ ...trust, sources: [source] }, now), "problem"],
  [
    "a source that stumbled today",
    judgeTrust({ ...trust, sources: [{ ...source, succeededAt: before(60) }] }, now),
    "ok",
  ],
  [
    "work that is done",
    judgeJobs({ processes: 1, hasRun: true, aside: [], oldestMail: before(1) }, now),
    "ok",
  ],
  [
    "nobody at work yet",
    judgeJobs({ processes: 0, hasRun: false, aside: [], oldestMail: null }, now),
    "warning",
  ],
  [
    "nobody at work any more",
    judgeJobs({ processes: 0, hasRun: true, aside: [], oldestMail: null }, now),
    "problem",
  ],
  [
    "rows set aside",
    judgeJobs({ processes: 1, hasRun: true, aside: [{ job: "x", count: 2 }], oldestMail: null }, now),
    "warning",
  ],
  [
    "a mail that waits",
    judgeJobs({ processes: 1, hasRun: true, aside: [], oldestMail: before(11) }, now),
    "problem",
  ],
  ["nothing late", judgeWebhooks([{ failing: false, due_at: before(0.5) }], now), "ok"],
  ["a receiver that fails", judgeWebhooks([{ failing: true, due_at: before(30) }], now), "warning"],
  ["deliveries that nobody sends", judgeWebhooks([{ failing: null, due_at: before(2) }], now), "problem"],
  ["a backup of today", judgeBackup(before(60), true, now), "ok"],
  ["an old backup", judgeBackup(before(8 * day), true, now), "warning"],
  ["no backup", judgeBackup(null, true, now), "warning"],
  ["somebody else's backup", judgeBackup(null, false, now), "ok"],
  ["a certificate", judgeCertificate("h", new Date("2027-01-01"), now), "ok"],
  ["a certificate that ends soon", judgeCertificate("h", new Date("2026-11-20"), now), "warning"],
  ["a certificate that has ended", judgeCertificate("h", new Date("2026-11-15"), now), "problem"],
];

test("each finding is judged as it should be, and what is not well says what to do", () => {
  for (const [what, { state, found, todo }, expected] of cases) {
    assert.equal(state, expected, `${what}: ${found}`);
    assert.equal(todo === null, state === "ok", what);
    assert.match(found, /\.$/, what);
  }
});
