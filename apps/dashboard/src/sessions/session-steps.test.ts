import assert from "node:assert/strict";
import { test } from "node:test";
import { sessionSteps } from "./session-steps.ts";

type SessionProgress = Parameters<typeof sessionSteps>[0];

const created: SessionProgress = {
  status: "created",
  methods: ["document_chip"],
  consent: null,
  nfc_tries_used: 0,
  liveness_tries_used: 0,
  evidence: null,
};
const consent = { given_at: "2026-01-01T10:00:00.000Z" } as SessionProgress["consent"];
const verifiedAt = "2026-01-01T10:05:00.000Z";

function shown(session: Partial<SessionProgress>): string[] {
  return sessionSteps({ ...created, ...session }, null).map(({ name, state }) => `${state} ${name}`);
}

test("a session that was not opened has all its steps before it", () => {
  assert.deepEqual(shown({}), ["open opened", "open agreed", "open chip", "open face"]);
});

test("what is done implies what comes before it", () => {
  assert.deepEqual(shown({ consent }), ["done opened", "done agreed", "now chip", "open face"]);
  assert.deepEqual(shown({ status: "in_progress" }), ["done opened", "now agreed", "open chip", "open face"]);
  assert.deepEqual(shown({ status: "in_progress", nfc_tries_used: 1 }), [
    "done opened",
    "done agreed",
    "now chip",
    "open face",
  ]);
  assert.deepEqual(shown({ status: "in_progress", nfc_tries_used: 1, liveness_tries_used: 1 }), [
    "done opened",
    "done agreed",
    "done chip",
    "now face",
  ]);
});

test("a session that failed says at which step, one that ended otherwise does not", () => {
  const tried = { consent, nfc_tries_used: 3 };
  assert.equal(shown({ ...tried, status: "failed" })[2], "failed chip");
  assert.equal(shown({ ...tried, status: "expired" })[2], "open chip");
  assert.equal(shown({ ...tried, status: "cancelled" })[2], "open chip");
});

test("the steps are those of the way that the person took", () => {
  const both: Partial<SessionProgress> = { methods: ["wallet_pid", "document_chip"], consent };
  assert.deepEqual(shown(both).slice(2), ["now evidence"]);
  assert.deepEqual(shown({ ...both, nfc_tries_used: 1 }).slice(2), ["now chip", "open face"]);
  assert.deepEqual(shown({ ...both, methods: ["wallet_pid", "wallet_mdl"] }).slice(2), ["now wallet"]);
  const succeeded = {
    ...both,
    status: "succeeded",
    evidence: { method: "wallet", verified_at: verifiedAt },
  } as const;
  assert.deepEqual(shown(succeeded).slice(2), ["done wallet"]);
});

test("the last step has the time of the evidence, and each its tries", () => {
  const evidence = { method: "chip_and_face", verified_at: verifiedAt } as const;
  const steps = sessionSteps(
    {
      ...created,
      ...{ status: "succeeded", consent, nfc_tries_used: 2, liveness_tries_used: 1, evidence },
    },
    null,
  );
  assert.deepEqual(
    steps.map(({ at, tries }) => [at, tries]),
    [
      [null, 0],
      ["2026-01-01T10:00:00.000Z", 0],
      [null, 2],
      [verifiedAt, 1],
    ],
  );
});

test("the page was opened and the chip read when the time line says so", () => {
  const times = {
    opened_at: "2026-01-01T09:59:00.000Z",
    steps: [{ name: "chip", tries: 1, passed_at: "2026-01-01T10:02:00.000Z" }],
  };
  const stepsOf = (session: Partial<SessionProgress>, timeline: typeof times) =>
    sessionSteps({ ...created, ...session }, timeline).map(
      ({ name, state, at }) => `${state} ${name} ${at ?? "-"}`,
    );
  assert.deepEqual(stepsOf({}, { ...times, steps: [] }).slice(0, 2), [
    "done opened 2026-01-01T09:59:00.000Z",
    "now agreed -",
  ]);
  assert.deepEqual(stepsOf({ consent, status: "in_progress", nfc_tries_used: 1 }, times), [
    "done opened 2026-01-01T09:59:00.000Z",
    "done agreed 2026-01-01T10:00:00.000Z",
    "done chip 2026-01-01T10:02:00.000Z",
    "now face -",
  ]);
});
