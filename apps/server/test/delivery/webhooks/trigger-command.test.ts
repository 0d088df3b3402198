import assert from "node:assert/strict";
import test from "node:test";
import { eventTypes } from "@assay/contract/events";
import { minuteMs } from "../../../src/platform/kernel/clock.ts";
import { createKey, createPartner, expectData } from "../../support/api.ts";
import { copyCli, newStateFolder, runPacked, startListen } from "../../support/listen-command.ts";
import { createLivePartner } from "../../support/live.ts";
import { assayHere } from "../../support/process.ts";
import { startTestService } from "../../support/service.ts";
import { until } from "../../support/until.ts";

const { api, core, clock, runJob, url } = await startTestService({ webhooks: { pollMs: 50 } });
const packed = copyCli();
const trigger = (key: string, ...args: string[]) =>
  runPacked(packed, ["trigger", ...args], { ASSAY_URL: url, ASSAY_API_KEY: key });
/** The same in this process, where it is not the program itself that is tested. */
const triggerHere = (key: string, ...args: string[]) =>
  assayHere(["trigger", ...args], { ASSAY_URL: url, ASSAY_API_KEY: key });

async function setUp() {
  const partner = await createPartner(api);
  const { secret: key } = partner.key;
  const listening = startListen(packed, ["--url", url, "--key", key], newStateFolder({ url, key }));
  const { endpoint_id: endpoint } = await listening.next("ready");
  return { partner, key, listening, endpoint };
}

test("every event of the contract happens when it is triggered, and arrives verified with its session", async () => {
  const { partner, key, listening } = await setUp();
  for (const type of eventTypes) {
    const triggered = triggerHere(key, type, "--json", "--reference", `order ${type}`);
    if (type === "verification.session.expired") {
      const created = async () => expectData<any[]>(await partner.api.get("/v1/sessions?status=created"));
      await until("the session is there", async () => (await created()).length > 0);
      clock.advance(2 * minuteMs);
      await runJob("expire-sessions");
    }
    const { code, stdout, stderr } = await triggered;
    assert.equal(code, 0, `${type}: ${stderr}`);
    const printed = JSON.parse(stdout);
    const { event, verified } = await listening.next("delivery");
    assert.deepEqual([printed.event_type, printed.event_id, printed.deliveries], [type, event.id, 1]);
    assert.deepEqual([verified, event.type, event.sandbox], [true, type, true]);
    assert.equal(event.metadata.verification_session_id, printed.session_id);
    if (type === "webhook.endpoint.test") continue;
    assert.equal(event.metadata.client_reference_id, `order ${type}`);
    const session = expectData<any>(await partner.api.get(`/v1/sessions/${printed.session_id}`));
    assert.equal(`verification.session.${session.status}`, type);
  }
  await listening.kill("SIGINT");
});

test("the last word of an event will do; document, claims and endpoint can be chosen", async () => {
  const { key, listening, endpoint } = await setUp();
  const failed = await trigger(key, "failed", "--passport", "passport-another-face");
  assert.match(failed.stdout, /verification\.session\.failed {2}evt_\w+ {2}vs_\w+\nSent to 1 endpoint\.\n$/);
  assert.equal((await listening.next("delivery")).event.data.failure_code, "selfie_face_mismatch");
  await trigger(key, "succeeded", "--fields", "age_over_18", "--endpoint", endpoint);
  assert.equal((await listening.next("delivery")).event.data.claims.age_over_18, true);
  await listening.kill("SIGINT");
});

test("without an endpoint the event happens all the same, and the command says that it goes nowhere", async () => {
  const { key } = await createPartner(api);
  const { code, stdout } = await trigger(key.secret, "cancelled");
  assert.deepEqual(
    [code, /No endpoint receives it\. Start `assay listen` first/.test(stdout)],
    [0, true],
    stdout,
  );
});

test("a live key makes nothing, and what cannot work is refused with a sentence", async () => {
  const live = await createLivePartner(core, api);
  const { key, owner } = await createPartner(api);
  const reader = await createKey(owner, ["sessions:read"]);
  const tries: [key: string, args: string[], code: number, printed: RegExp][] = [
    [live.key.secret, ["succeeded"], 3, /says sandbox, and the API key belongs to live/],
    [live.key.secret, ["test"], 3, /says sandbox, and the API key belongs to live/],
    [reader.secret, ["succeeded"], 3, /lacks the scope sessions:write/],
    [key.secret, [], 1, /Name one event: verification\.session\.succeeded, /],
    [key.secret, ["verification.session.suceeded"], 1, /Did you mean verification\.session\.succeeded\?/],
    [key.secret, ["canceled"], 1, /Did you mean cancelled\?/],
    [key.secret, ["test"], 3, /No endpoint receives it/],
    [key.secret, ["failed", "--passport", "passport-valid"], 3, /ended as succeeded, not as failed/],
    [key.secret, ["failed", "--passport", "blue"], 3, /`document` must be one of/],
  ];
  for (const [secret, args, code, printed] of tries) {
    const ended = await triggerHere(secret, ...args);
    assert.match(ended.stderr, printed);
    assert.equal(ended.code, code, ended.stderr);
  }
  const sessions = expectData<any[]>(await live.api.get("/v1/sessions"));
  assert.deepEqual(sessions, [], "no live session was made");
});
