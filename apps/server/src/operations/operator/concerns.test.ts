import assert from "node:assert/strict";
import test from "node:test";
import { judgeCertificate } from "@assay/cli/look-at-certificate";
import { operatorConcerns } from "@assay/contract/operator";
import type { Subject } from "./concern.ts";
import { concerns } from "./concerns.ts";
import type { Facts } from "./facts.ts";
import { judge, pageConcerns } from "./judge-concerns.ts";

const now = new Date("2026-11-16T12:00:00Z");
const before = (minutes: number) => new Date(now.getTime() - minutes * 60_000);
const day = 24 * 60;
const migration = { name: "0001_a.sql", text: "", checksum: "x", minCode: null };
const later = { name: "0002_b.sql", checksum: "z", minCode: null };
const contracting = { name: "0002_b.sql", text: "-- phase: contract, code since 0001\n", checksum: "z" };
const report = { problem: null, isOverloaded: false, face: null, jobs: [] };
const worker = {
  name: "one",
  role: "all" as const,
  version: "1",
  startedAt: now,
  seenAt: now,
  isSilent: false,
  report,
};
const job = {
  name: "send-mails",
  state: "waiting" as const,
  everyMs: 1000,
  lastEndedAt: now,
  lastFailedAt: null,
  runningSince: null,
  lateSeconds: 0,
  quarantined: 0,
};
const aside = { job: "x", kind: "y", reason: "z", count: 2, oldestAt: now, nextTryAt: now };
const source = {
  address: "https://pki.example",
  editionAt: null,
  succeededAt: before(60),
  failures: 0,
  problem: null,
};
const failing = { ...source, failures: 1, problem: "no answer" };
const certificate = (end: string) => judgeCertificate("h", new Date(end), now);

/** An installation without any concern. */
const walletIdentity = {
  notAfter: before(-30 * day),
  isKeyOfLeaf: true,
  hasAnchorInChain: false,
  isOfAddress: true,
  unregistered: [],
  registrations: [{ isOfLeaf: true, expiresAt: before(-30 * day) }],
};
const staleList = { label: "vical.cbor", purpose: "mdl", nextUpdate: before(day), isOver: false } as const;

const well: Facts = {
  self: { problem: null },
  configuration: { problem: null },
  node: { version: "v24.21.0" },
  // A folder with execute permission, for a database that root starts.
  folder: { path: "/data", mode: 0o40711, isWritable: true, ringMode: 0o100600 },
  disk: { free: 50e9, size: 100e9 },
  openFiles: { limit: 4096 },
  publicAddress: {
    url: "https://id.example.com",
    base: "https://id.example.com",
    answer: "ours",
    detail: "200",
    certificate: certificate("2027-01-01"),
  },
  mail: { kind: "answers", host: "mail", certificate: certificate("2027-01-01") },
  readingDevices: { apps: ["the Android app"], desks: false },
  dns: { resolvers: 2, silent: [] },
  attestation: { revokedFile: "/etc/assay/revoked.json" },
  face: { failure: null, hasNetwork: false },
  database: { kind: "answers", version: "15.1", takesWrites: true },
  pooler: {
    pooler: "transaction",
    supportsPreparedStatements: true,
    direct: "none",
    preparedStatements: "named",
  },
  schema: { known: [migration], applied: [migration], earlierUse: [] },
  clock: { skewMs: -999 },
  keyRing: { isLoaded: true, knownKeys: 1, mismatches: [] },
  mailFiles: { smtpUrl: "", machines: ["a"] },
  trust: {
    changedAt: before(90 * day),
    countries: 2,
    authorities: 3,
    validAuthorities: 3,
    revocationLists: [{ state: "stale", countries: 0, oldestListAt: null }],
    sources: [],
    heldRemovals: 0,
    version: 1,
  },
  wallet: {
    offered: ["pid", "age"],
    identity: walletIdentity,
    anchors: { pid: 1, mdl: 0, age: 1 },
    staleLists: [],
    listGraceDays: 7,
  },
  work: {
    hasRun: true,
    processes: [worker],
    jobs: [job],
    quarantined: { count: 0, groups: [] },
    mails: { count: 1, isCapped: false, quarantined: 0, oldestAt: before(10) },
  },
  webhooks: {
    count: 3,
    isCapped: false,
    quarantined: 0,
    oldestDueAt: before(30),
    oldestSendableAt: before(2),
    endpointsDue: 1,
    endpointsFailing: 0,
  },
  backup: { lastAt: before(7 * day), isEmbedded: true },
};

type Causes = { [S in keyof Facts]?: Partial<Record<string, Partial<Facts[S]>>> };

/** What causes each concern, and no more severe one about the same subject. */
const causes: Causes = {
  self: { not_ready: { problem: "the database is read-only" } },
  configuration: { configuration_unreadable: { problem: "PORT must be a number." } },
  node: { node_old: { version: "v22.1.0" } },
  folder: {
    folder_missing: { mode: null },
    folder_unwritable: { isWritable: false },
    ring_readable: { ringMode: 0o100640 },
    folder_open: { mode: 0o40755 },
  },
  disk: { disk_fills: { free: 0.24e9 }, disk_short: { free: 1.9e9 } },
  openFiles: { files_few: { limit: 1023 }, files_short: { limit: 4095 } },
  publicAddress: {
    // This host only begins with the name of the local machine.
    address_insecure: { url: "http://localhost.evil.example" },
    address_certificate_bad: { certificate: certificate("2026-11-15") },
    address_foreign: { answer: "foreign" },
    address_untrusted: { answer: "untrusted" },
    address_unknown: { answer: "unknown_name" },
    address_certificate_ends: { certificate: certificate("2026-11-20") },
    address_silent: { answer: "none" },
    address_unset: { url: "", base: "http://127.0.0.1:3000" },
  },
  mail: {
    mail_refused: { kind: "refused", host: "mail", code: "EAUTH", message: "no" },
    mail_certificate_over: { certificate: certificate("2026-11-15") },
    mail_certificate_ends: { certificate: certificate("2026-11-20") },
    mail_unset: { kind: "files", folder: "/data/mail" },
  },
  readingDevices: { nothing_reads: { apps: [] } },
  dns: { dns_silent: { silent: ["a", "b"] }, dns_partly_silent: { silent: ["a"] } },
  attestation: { revoked_keys_unknown: { revokedFile: "" } },
  face: { face_fails: { failure: "no memory" }, face_has_network: { hasNetwork: true } },
  database: {
    database_unreadable: { kind: "unreadable", problem: "It does not answer." },
    database_lost: { kind: "empty", earlierUse: ["mail is there"] },
    database_missing: { kind: "empty", earlierUse: [] },
    database_read_only: { takesWrites: false },
    database_old: { version: "14.9" },
  },
  pooler: {
    pooler_lends_transactions: { direct: "transaction" },
    pooler_mixes_names: { supportsPreparedStatements: false },
  },
  schema: {
    schema_lost: { applied: null, earlierUse: ["SKIP_MIGRATIONS is true"] },
    schema_missing: { applied: null },
    schema_edited: { applied: [{ ...migration, checksum: "y" }] },
    schema_too_new: { applied: [migration, { ...later, minCode: 2 }] },
    schema_too_old: { applied: [] },
    schema_left_for_later: { known: [migration, contracting] },
    schema_differs: { applied: [migration, later] },
  },
  clock: { clock_apart: { skewMs: -5_000 }, clock_drifts: { skewMs: 1_000 } },
  keyRing: {
    ring_lost: { isLoaded: false },
    ring_missing: { isLoaded: false, knownKeys: 0 },
    ring_misfits: { mismatches: ["No."] },
  },
  mailFiles: { mail_files_scattered: { machines: ["a", "b"] } },
  trust: {
    nothing_trusted: { authorities: 0, validAuthorities: 0 },
    trust_over: { validAuthorities: 0 },
    trust_source_silent: { sources: [{ ...failing, succeededAt: before(3 * day) }] },
    trust_source_failing: { sources: [source, failing] },
    trust_old: { changedAt: before(91 * day) },
    revocation_lists_old: { revocationLists: [{ state: "stale", countries: 1, oldestListAt: now }] },
  },
  wallet: {
    wallet_key_wrong: { identity: { ...walletIdentity, isKeyOfLeaf: false } },
    wallet_identity_missing: { identity: null },
    wallet_list_over: { staleLists: [{ ...staleList, isOver: true }] },
    wallet_nothing_trusted: { anchors: { pid: 0, mdl: 0, age: 1 } },
    wallet_anchor_in_chain: { identity: { ...walletIdentity, hasAnchorInChain: true } },
    wallet_identity_ends: { identity: { ...walletIdentity, notAfter: before(-29 * day) } },
    wallet_registration_foreign: {
      identity: { ...walletIdentity, registrations: [{ isOfLeaf: false, expiresAt: null }] },
    },
    wallet_registration_ends: {
      identity: { ...walletIdentity, registrations: [{ isOfLeaf: true, expiresAt: before(-29 * day) }] },
    },
    wallet_address_other: { identity: { ...walletIdentity, isOfAddress: false } },
    wallet_registration_short: {
      identity: {
        ...walletIdentity,
        unregistered: [{ purpose: "pid", preset: "Age check", field: "age_over_18" }],
      },
    },
    wallet_list_stale: { staleLists: [staleList] },
  },
  work: {
    not_started: { hasRun: false, processes: [] },
    no_worker: { processes: [{ ...worker, role: "api" }] },
    mails_wait: { mails: { count: 1, isCapped: false, quarantined: 0, oldestAt: before(10.1) } },
    process_not_ready: { processes: [{ ...worker, report: { ...report, problem: "a key is missing" } }] },
    overloaded: { processes: [{ ...worker, report: { ...report, isOverloaded: true } }] },
    process_silent: { processes: [worker, { ...worker, isSilent: true, version: "2" }] },
    versions_differ: { processes: [worker, { ...worker, version: "2" }] },
    jobs_failing: { jobs: [{ ...job, state: "failing" }] },
    jobs_late: { jobs: [{ ...job, state: "late" }] },
    rows_set_aside: { quarantined: { count: 2, groups: [aside] } },
  },
  webhooks: {
    webhooks_wait: { oldestSendableAt: before(2.1) },
    endpoints_failing: { endpointsFailing: 1 },
  },
  backup: { backup_old: { lastAt: before(7.1 * day) } },
};

function checkSubject<S extends keyof Facts>(of: S): void {
  const subject: Subject<Facts[S]> = concerns[of];
  assert.equal(judge(of, well[of], now).state, "ok", of);
  assert.match(judge(of, well[of], now).found, /\.$/, of);
  for (const [id, { state, look }] of Object.entries(subject.concerns)) {
    if (look === null) continue;
    const cause = causes[of]?.[id] ?? assert.fail(`nothing here makes ${id}`);
    const made = { ...well[of], ...cause };
    const { todo, ...found } = judge(of, made, now);
    assert.deepEqual(found, { state, found: look(made, now) }, id);
    assert.match(`${found.found}`, of === "self" ? /./ : /\.$/, id);
    assert.ok(todo, id);
  }
}

for (const of of Object.keys(concerns) as (keyof Facts)[])
  test(`each concern about ${of} is found by what makes it, and says what to do`, () => checkSubject(of));

test("what is not as usual and yet well is no concern", () => {
  const cases: [Partial<Facts>][] = [
    [{ openFiles: { limit: "unlimited" } }],
    [{ openFiles: { limit: null } }],
    [{ publicAddress: { ...well.publicAddress, url: "http://127.0.0.1:3000", certificate: null } }],
    [{ pooler: { ...well.pooler, pooler: "none", direct: null } }],
    [{ pooler: { ...well.pooler, pooler: "session", direct: null } }],
    [{ pooler: { ...well.pooler, supportsPreparedStatements: false, preparedStatements: "off" } }],
    [{ mailFiles: { smtpUrl: "smtp://mail", machines: ["a", "b"] } }],
    [{ readingDevices: { apps: [], desks: true } }],
    [{ trust: { ...well.trust, changedAt: before(200 * day), sources: [source] } }],
    [{ wallet: { ...well.wallet, offered: [], identity: null, anchors: { pid: 0, mdl: 0, age: 0 } } }],
    [{ wallet: { ...well.wallet, offered: ["age"], identity: null } }],
    [{ backup: { lastAt: null, isEmbedded: false } }],
  ];
  for (const [facts] of cases)
    for (const of of Object.keys(facts) as (keyof Facts)[])
      assert.equal(judge(of, { ...well, ...facts }[of], now).state, "ok", JSON.stringify(facts));
  assert.equal(judge("backup", { lastAt: null, isEmbedded: true }, now).state, "warning");
  const alone = { ...well.pooler, direct: null };
  assert.equal(judge("pooler", alone, now).state, "problem", "a pooler for transactions alone");
});

test("the operator's page lists what holds, the gravest first, and nothing of what could not be found out", () => {
  assert.deepEqual(pageConcerns(well, now), []);
  for (const id of operatorConcerns) {
    const [of, cause] =
      (Object.keys(causes) as (keyof Facts)[])
        .map((subject) => [subject, causes[subject]?.[id]] as const)
        .find(([, made]) => made !== undefined) ?? assert.fail(id);
    assert.deepEqual(pageConcerns({ ...well, [of]: { ...well[of], ...cause } }, now), [id]);
  }
  const both = { self: { problem: "no" }, work: { ...well.work, ...causes.work?.rows_set_aside } };
  assert.deepEqual(pageConcerns(both, now), ["not_ready", "rows_set_aside"]);
});

test("every concern has an id of its own, and texts where the page or the guide shows them", () => {
  const rows = Object.values(concerns).flatMap(({ concerns: of }) => Object.entries(of));
  assert.equal(new Set(rows.map(([id]) => id)).size, rows.length);
  const listed = rows.filter(([, { says }]) => says !== null).map(([id]) => id);
  assert.deepEqual(listed.sort(), [...operatorConcerns].sort());
  for (const [id, { says, alarm, todo }] of rows)
    if (says !== null || alarm !== null) assert.equal(typeof todo, "string", id);
});
