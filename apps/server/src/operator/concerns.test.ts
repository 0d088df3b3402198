import assert from "node:assert/strict";
import test from "node:test";
import { operatorConcerns } from "@assay/contract/operator";
import { concernsOf } from "./concerns.ts";
import type { InstallationStatus } from "./installation-status.ts";

type Status = Omit<InstallationStatus, "concerns">;

const now = new Date("2026-03-01T09:30:00.000Z");
const secondsAgo = (seconds: number) => new Date(now.getTime() - seconds * 1000);

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
  setAside: 0,
};
const source = { address: "", editionAt: null, succeededAt: null, failures: 0, problem: null };
const trust = {
  version: 1,
  changedAt: now,
  countries: 1,
  authorities: 1,
  validAuthorities: 1,
  revocationLists: [],
  sources: [source],
  heldRemovals: 0,
};
const well: Status = {
  now,
  health: {
    problem: null,
    isOverloaded: false,
    version: "1",
    startedAt: now,
    schemaVersion: "1",
    databaseVersion: "17",
  },
  processes: [worker],
  jobs: [job],
  setAside: { count: 0, groups: [] },
  trust,
  webhooks: {
    count: 3,
    isCapped: false,
    setAside: 0,
    oldestDueAt: secondsAgo(120),
    endpointsDue: 1,
    endpointsFailing: 2,
  },
  mails: { count: 1, isCapped: false, setAside: 0, oldestAt: secondsAgo(600) },
};

/** What makes each of them, and nothing else. */
const causes: Record<(typeof operatorConcerns)[number], Partial<Status>> = {
  not_ready: { health: { ...well.health, problem: "the database is read-only" } },
  no_worker: { processes: [{ ...worker, role: "api" }] },
  nothing_trusted: { trust: { ...trust, authorities: 0 } },
  overloaded: { processes: [{ ...worker, report: { ...report, isOverloaded: true } }] },
  process_not_ready: { processes: [{ ...worker, report: { ...report, problem: "a key is missing" } }] },
  process_silent: { processes: [worker, { ...worker, isSilent: true, version: "2" }] },
  versions_differ: { processes: [worker, { ...worker, version: "2" }] },
  jobs_failing: { jobs: [{ ...job, state: "failing" }] },
  jobs_late: { jobs: [{ ...job, state: "late" }] },
  webhooks_wait: { webhooks: { ...well.webhooks, oldestDueAt: secondsAgo(121) } },
  mails_wait: { mails: { ...well.mails, oldestAt: secondsAgo(601) } },
  trust_source_failing: { trust: { ...trust, sources: [source, { ...source, failures: 1 }] } },
  rows_set_aside: { setAside: { count: 1, groups: [] } },
};

test("an installation in which nothing waits longer than it may has no concern", () => {
  assert.deepEqual(concernsOf(well), []);
  assert.deepEqual(concernsOf({ ...well, trust: null }), [], "what could not be found out is none");
});

for (const concern of operatorConcerns) {
  test(`${concern} is told by what makes it, and alone`, () => {
    assert.deepEqual(concernsOf({ ...well, ...causes[concern] }), [concern]);
  });
}

test("the gravest comes first", () => {
  const both = { ...well, ...causes.rows_set_aside, ...causes.not_ready };
  assert.deepEqual(concernsOf(both), ["not_ready", "rows_set_aside"]);
});
