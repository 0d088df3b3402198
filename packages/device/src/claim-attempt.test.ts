import assert from "node:assert/strict";
import test from "node:test";
import { type ClaimOptions, claimAttempt } from "./claim-attempt.ts";
import { DeviceError } from "./verification-url.ts";

const sessionId = `vs_${"a".repeat(64)}`;
const verificationUrl = `https://id.example/verify/${sessionId}`;
const field = (required: boolean) => ({ required, reason: "To know." });

/** The service's HTTP side: every call is written down, and answered with what belongs to its path. */
function service(details: object = {}) {
  const calls: { path: string; body: unknown }[] = [];
  const answers: Record<string, unknown> = {
    details: {
      sandbox: true,
      consent: null,
      share_fields: { date_of_birth: field(true), sex_marker: field(false), given_name: field(false) },
      requirements: { clone_detection: "required", revocation: "preferred" },
      ...details,
    },
    "consent-texts": { version: "2026-01" },
    consent: {},
    handoff: { handoff_token: "made" },
    claim: { socket_token: "socket" },
  };
  const fetchLike = async (url: string | URL | Request, init?: RequestInit) => {
    const path = String(url).split("/").at(-1) ?? "";
    calls.push({ path, body: init?.body === undefined ? null : JSON.parse(String(init.body)) });
    return new Response(JSON.stringify({ data: answers[path], error: null }));
  };
  const steps: string[] = [];
  const run = (options: Partial<ClaimOptions> = {}) =>
    claimAttempt({ verificationUrl, fetch: fetchLike, onStep: (step) => steps.push(step), ...options });
  const bodyOf = (path: string) => calls.find((call) => call.path === path)?.body;
  return { run, fetch: fetchLike, calls, steps, bodyOf, paths: () => calls.map(({ path }) => path) };
}

test("a simulated person agrees to everything that is asked, and the device claims with a token of its own", async () => {
  const { run, steps, bodyOf, calls, paths } = service();
  const claimed = await run({ deviceId: (id) => `desk-${id}` });
  assert.deepEqual(paths(), ["details", "consent-texts", "consent", "handoff", "claim"]);
  assert.deepEqual(bodyOf("consent"), {
    selected_field_keys: ["date_of_birth", "sex_marker", "given_name"],
    terms_version: "2026-01",
  });
  assert.deepEqual(bodyOf("claim"), { handoff_token: "made", device_id: `desk-${sessionId}` });
  assert.deepEqual(steps, ["the document must give clone_detection", "consent", "handoff", "claim"]);
  assert.ok("socketToken" in claimed);
  const { claimAgain, ...rest } = claimed;
  assert.deepEqual(rest, { sessionId, baseUrl: "https://id.example", socketToken: "socket" });
  assert.equal(await claimAgain(), "socket");
  assert.deepEqual(calls.at(-1), { path: "claim", body: bodyOf("claim") }, "the same name and token again");
});

test("a device that is given no name makes one up, and a device that watches nobody runs the same", async () => {
  const [one, other] = [service(), service()];
  for (const { fetch } of [one, other]) await claimAttempt({ verificationUrl, fetch });
  const nameOf = ({ bodyOf }: typeof one) => (bodyOf("claim") as { device_id: string }).device_id;
  assert.match(nameOf(one), /^[0-9a-f-]{36}$/);
  assert.notEqual(nameOf(one), nameOf(other));
});

test("a field that the person declines is left out, and only one that is asked for and optional can be declined", async () => {
  const { run, bodyOf } = service();
  await run({ decline: ["sex_marker"] });
  assert.deepEqual((bodyOf("consent") as { selected_field_keys: string[] }).selected_field_keys, [
    "date_of_birth",
    "given_name",
  ]);
  for (const decline of [["date_of_birth"], ["nationality"]]) {
    const refused = service();
    await assert.rejects(refused.run({ decline }), DeviceError);
    assert.deepEqual(refused.paths(), ["details"], "nothing was agreed to");
  }
});

test("outside of the sandbox nobody agrees in the person's name", async () => {
  const live = service({ sandbox: false });
  await assert.rejects(live.run(), DeviceError);
  assert.deepEqual(live.paths(), ["details"]);
  const agreed = service({ sandbox: false });
  await agreed.run({ consent: "given" });
  assert.deepEqual(agreed.paths(), ["details", "handoff", "claim"]);
  const asked = service({ sandbox: false });
  await assert.rejects(asked.run({ consent: "ask" }), DeviceError);
});

test("a consent that is fixed is not given again; one that can still change is", async () => {
  const fixed = service({ sandbox: false, consent: { fixed: true } });
  await fixed.run();
  assert.deepEqual(fixed.paths(), ["details", "handoff", "claim"]);
  const open = service({ consent: { fixed: false } });
  await open.run();
  assert.ok(open.paths().includes("consent"));
});

test("the token of a code that the page shows is claimed in place of a new one", async () => {
  const { run, paths, bodyOf } = service();
  await run({ verificationUrl: `${verificationUrl}#handoff=shown` });
  assert.ok(!paths().includes("handoff"));
  assert.equal((bodyOf("claim") as { handoff_token: string }).handoff_token, "shown");
});

test("a session that does not require what the desk demands is left alone, before anything is agreed to", async () => {
  await service().run({ demanded: ["clone_detection"] });
  for (const demanded of [["clone_detection", "revocation"], ["revocation"]] as const) {
    const { run, paths } = service();
    await assert.rejects(run({ demanded }), DeviceError);
    assert.deepEqual(paths(), ["details"]);
  }
});

test("it stops after the step that it is asked to stop after, and does nothing of the next", async () => {
  for (const [stopAfter, done] of [
    ["consent", ["details", "consent-texts", "consent"]],
    ["handoff", ["details", "consent-texts", "consent", "handoff"]],
    ["claim", ["details", "consent-texts", "consent", "handoff", "claim"]],
  ] as const) {
    const { run, paths, steps } = service();
    assert.deepEqual(await run({ stopAfter }), { stopped: stopAfter, sessionId });
    assert.deepEqual(paths(), done);
    assert.equal(steps.at(-1), stopAfter);
  }
});
