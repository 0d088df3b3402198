import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import test from "node:test";
import { minuteMs, secondMs } from "../../../src/platform/kernel/clock.ts";
import { createKey, createPartner, expectData } from "../../support/api.ts";
import { createAuthority } from "../../support/certificate.ts";
import {
  checkout,
  copyCli,
  keepKeyPair,
  newStateFolder,
  runPacked,
  startListen,
  startLocalReceiver,
  startProxy,
  throughNpm,
} from "../../support/listen-command.ts";
import { assayHere, cleanEnvironment } from "../../support/process.ts";
import { createReceivingEndpoint, startReceiver } from "../../support/receiver.ts";
import { startTestService } from "../../support/service.ts";
import { until } from "../../support/until.ts";

const authority = createAuthority();
const { api, clock, url } = await startTestService({
  env: { WEBHOOK_ALLOWED_PRIVATE_HOSTS: "127.0.0.1" },
  webhooks: { ca: authority.certificate, pollMs: 50 },
});
/** In an empty folder, and run by the Node of the machine. */
const packed = copyCli();

async function setUp() {
  const partner = await createPartner(api);
  const stateFolder = newStateFolder({ url, key: partner.key.secret });
  const listen = (args: readonly string[] = []) =>
    startListen(packed, ["--url", url, "--key", partner.key.secret, ...args], stateFolder);
  const endpoints = async () => expectData<any[]>(await partner.api.get("/v1/webhooks/endpoints"));
  const sendTest = async (endpointId: string) =>
    expectData(await partner.api.post(`/v1/webhooks/endpoints/${endpointId}/test`), 202);
  const cancelSession = async (reference: string) => {
    const session = expectData(
      await partner.api.post("/v1/sessions", { client_reference_id: reference }),
      201,
    );
    assert.equal((await partner.api.post(`/v1/sessions/${session.id}/cancel`)).status, 204);
  };
  return { partner, stateFolder, listen, endpoints, sendTest, cancelSession };
}

test("the checkout shows the first event verified and decrypted; Ctrl-C removes the endpoint and says so", async () => {
  const { partner, endpoints, cancelSession } = await setUp();
  // The first start of all, which makes its key pair.
  const stateFolder = newStateFolder();
  const listening = startListen(checkout, ["--url", url, "--key", partner.key.secret], stateFolder);
  const ready = await listening.next("ready");
  const [endpoint] = await endpoints();
  assert.deepEqual([endpoint.id, endpoint.kind], [ready.endpoint_id, "listener"]);
  await cancelSession("order-7");
  const line = await listening.next("delivery");
  assert.deepEqual(
    [line.event_type, line.attempt, line.verified, line.status_code, line.status],
    ["verification.session.cancelled", 1, true, 200, "succeeded"],
  );
  assert.equal(line.event.id, line.event_id);
  assert.equal(line.event.metadata.client_reference_id, "order-7");
  await listening.untilTold(/verification\.session\.cancelled {2}evt_\w+ {2}try 1 {2}→ 200 {2}\d+ ms\n/);
  for (const shown of [
    `Listening at ${url} (sandbox)`,
    ready.endpoint_id,
    ready.signing_secret,
    ready.key_id,
  ])
    assert.ok(listening.printed.includes(shown), `${shown} is in\n${listening.printed}`);
  // The private key never leaves, and only its owner may read it here.
  for (const name of readdirSync(stateFolder))
    assert.equal(statSync(join(stateFolder, name)).mode & 0o777, 0o600, name);
  assert.equal(await listening.kill("SIGINT"), 0);
  assert.match(listening.printed, new RegExp(`Endpoint ${ready.endpoint_id} removed\\.\n$`));
  assert.deepEqual(await endpoints(), []);
});

test("SIGTERM to npm and all that it started removes the endpoint", async () => {
  const { partner, stateFolder, endpoints } = await setUp();
  const args = ["--url", url, "--key", partner.key.secret];
  const listening = startListen(throughNpm, args, stateFolder, { detached: true });
  await listening.next("ready");
  assert.equal((await endpoints()).length, 1);
  assert.ok(listening.child.pid !== undefined);
  process.kill(-listening.child.pid, "SIGTERM");
  await listening.next("removed");
  await listening.closed;
  assert.deepEqual(await endpoints(), []);
});

test("what is forwarded is, header for header and byte for byte, what a URL gets, and the sample for partners opens it", async () => {
  const { partner, listen, cancelSession } = await setUp();
  const atUrl = await startReceiver(authority);
  const local = await startLocalReceiver();
  const listening = listen(["--forward-to", local.url]);
  const ready = await listening.next("ready");
  await createReceivingEndpoint(partner.api, atUrl.url);
  await cancelSession("order-8");
  assert.equal((await listening.next("delivery")).status_code, 200);
  await atUrl.until(1);
  const [forwarded, sent] = [local.received[0], atUrl.received[0]];
  assert.ok(forwarded && sent);
  const names = forwarded.rawHeaders.filter((_, at) => at % 2 === 0);
  assert.deepEqual(names, Object.keys(sent.headers), "the same names in the same order");
  for (const name of ["connection", "content-type", "user-agent", "x-service-event", "webhook-id"])
    assert.equal(forwarded.headers[name], sent.headers[name], name);
  assert.equal(forwarded.headers["content-length"], String(Buffer.byteLength(forwarded.body)));
  const { openWebhook } = await import("../../../../../examples/webhooks/open-webhook.mjs" as string);
  const event = openWebhook(
    forwarded.headers,
    forwarded.body,
    ready.signing_secret,
    readFileSync(ready.private_key_file, "utf8"),
    clock.now().getTime() / 1000,
  );
  assert.equal(event.metadata.client_reference_id, "order-8");
  assert.match(
    listening.printed,
    new RegExp(`WEBHOOK_SECRET='${ready.signing_secret.replaceAll("+", "\\+")}'`),
  );
  assert.equal(await listening.kill("SIGTERM"), 0);
});

test("an address without a scheme is forwarded to, with the headers that were asked for", async () => {
  const { listen, sendTest } = await setUp();
  const local = await startLocalReceiver();
  const address = local.url.replace("http://", "");
  const headers = ["--header", "X-Trace: 7: a", "--header", "host: shop.test"];
  for (const [to, more] of [
    [address, headers],
    [address.replace("127.0.0.1:", ""), []],
  ] as const) {
    const listening = listen(["--forward-to", to, ...more]);
    await sendTest((await listening.next("ready")).endpoint_id);
    const line = await listening.next("delivery");
    assert.deepEqual([line.forwarded_to, line.status_code], [local.url, 200]);
    await listening.kill("SIGINT");
  }
  const [first, second] = local.received;
  assert.deepEqual([first?.headers["x-trace"], first?.headers.host], ["7: a", "shop.test"]);
  assert.deepEqual([second?.headers["x-trace"], second?.headers.host], [undefined, new URL(local.url).host]);
  assert.equal(first?.rawHeaders.filter((name) => name.toLowerCase() === "host").length, 1);
});

test("a receiver with a self-signed certificate is used with --skip-verify only", async () => {
  const { listen, sendTest } = await setUp();
  const local = await startLocalReceiver(authority.issue(["127.0.0.1"]));
  for (const [more, answer] of [
    [[], "tls_failed"],
    [["--skip-verify"], 200],
  ] as const) {
    const listening = listen(["--forward-to", local.url, ...more]);
    await sendTest((await listening.next("ready")).endpoint_id);
    const line = await listening.next("delivery");
    assert.equal(line.status_code ?? line.error, answer);
    if (answer !== 200) await listening.untilTold(/is not trusted here; --skip-verify takes it/);
    await listening.kill("SIGINT");
  }
  assert.equal(local.received.length, 1);
});

test("--print-secret prints the secret alone: that of the listener that runs, or of the next start", async () => {
  const { partner, stateFolder, listen, endpoints } = await setUp();
  const env = { ASSAY_STATE_DIR: stateFolder, ASSAY_URL: url, ASSAY_API_KEY: partner.key.secret };
  const asked = await runPacked(packed, ["listen", "--print-secret"], env);
  assert.equal(asked.code, 0, asked.stderr);
  assert.match(asked.stdout, /^whsec_[A-Za-z0-9+/=]+\n$/);
  const listening = listen();
  const ready = await listening.next("ready");
  assert.equal(`${ready.signing_secret}\n`, asked.stdout);
  const here = await assayHere(["listen", "--print-secret", "--json"], env);
  assert.deepEqual(JSON.parse(here.stdout), {
    endpoint_id: ready.endpoint_id,
    signing_secret: ready.signing_secret,
    private_key_file: ready.private_key_file,
  });
  assert.equal((await endpoints()).length, 1, "asking makes no second endpoint");
  await listening.kill("SIGINT");
});

test("a receiver that fails or does not listen is tried again on the ordinary schedule, and the line says when", async () => {
  const { partner, listen, sendTest } = await setUp();
  const local = await startLocalReceiver();
  local.answerWith((at) => (at === 1 ? 500 : 200));
  const listening = listen(["--forward-to", local.url, "--decrypted"]);
  const { endpoint_id: id } = await listening.next("ready");
  await sendTest(id);
  const failed = await listening.next("delivery");
  assert.deepEqual([failed.status_code, failed.status, failed.attempt], [500, "pending", 1]);
  await listening.untilTold(/→ 500 {2}\d+ ms {2}next try \d\d:\d\d:\d\d/);
  clock.advance(6 * secondMs);
  const second = await listening.next("delivery");
  assert.deepEqual([second.status_code, second.status, second.attempt], [200, "succeeded", 2]);
  assert.equal(local.received[1]?.headers["content-type"], "application/json");
  assert.equal(JSON.parse(local.received[1]?.body ?? "").data.webhook_endpoint_id, id);
  await listening.kill("SIGINT");

  const nobody = listen(["--forward-to", "http://127.0.0.1:9/hook"]);
  const { endpoint_id: other } = await nobody.next("ready");
  await sendTest(other);
  const { delivery_id: deliveryId, error } = await nobody.next("delivery");
  assert.equal(error, "connection_failed");
  await nobody.untilTold(/is your receiver running there/);
  const { attempts } = expectData(await partner.api.get(`/v1/webhooks/deliveries/${deliveryId}`));
  assert.equal(attempts[0].error, "connection_failed");
  await nobody.kill("SIGINT");
});

test("with --respond retries are rehearsed without a receiver, and --replay sends again what waits, to the one that runs", async () => {
  const { listen, sendTest } = await setUp();
  const listening = listen(["--respond", "500,timeout,503,200"]);
  const { endpoint_id: id } = await listening.next("ready");
  const { event } = await sendTest(id);
  const seen = [await listening.next("delivery")];
  clock.advance(6 * secondMs);
  seen.push(await listening.next("delivery"));
  clock.advance(6 * minuteMs);
  seen.push(await listening.next("delivery"));
  assert.deepEqual(
    seen.map(({ attempt, status_code: status, error }) => [attempt, status ?? error]),
    [
      [1, 500],
      [2, "timeout"],
      [3, 503],
    ],
  );
  const asking = listen(["--replay", event.id]);
  assert.equal((await asking.closed).code, 0, asking.printed);
  // A replay restarts the schedule.
  const again = await listening.next("delivery");
  assert.deepEqual([again.event_id, again.attempt, again.status_code], [event.id, 1, 500]);
  const unknown = listen(["--replay", `evt_${"0".repeat(64)}`]);
  assert.equal((await unknown.closed).code, 3);
  assert.match(unknown.printed, /was not sent to this endpoint/);
  await listening.kill("SIGINT");
});

test("killed with deliveries under way and waiting, the next start is the same endpoint and gets each of them", async () => {
  const { partner, listen, sendTest, endpoints } = await setUp();
  const local = await startLocalReceiver();
  local.answerWith(() => null);
  const killed = listen(["--forward-to", local.url]);
  const { endpoint_id: id, signing_secret: secret } = await killed.next("ready");
  const sent = [await sendTest(id), await sendTest(id)];
  await until("the first has arrived", () => local.received.length > 0);
  await killed.kill("SIGKILL");
  sent.push(await sendTest(id), await sendTest(id));
  assert.deepEqual(
    (await endpoints()).map((endpoint) => endpoint.id),
    [id],
  );
  local.answerWith(() => 200);
  const before = local.received.length;
  const next = listen(["--forward-to", local.url]);
  const ready = await next.next("ready");
  assert.deepEqual([ready.endpoint_id, ready.signing_secret, ready.waiting], [id, secret, 4]);
  const got: string[] = [];
  for (let at = 0; at < sent.length; at++) {
    const line = await next.next("delivery");
    assert.deepEqual([line.status_code, line.attempt], [200, 1], "no try was used up");
    got.push(line.event_id);
  }
  assert.deepEqual(got.sort(), sent.map(({ event }) => event.id).sort());
  assert.equal(local.received.length - before, sent.length, "and nothing comes twice");
  for (const { deliveries } of sent)
    assert.equal(
      expectData(await partner.api.get(`/v1/webhooks/deliveries/${deliveries[0].id}`)).attempt_count,
      1,
    );
  await next.kill("SIGINT");
});

test("killed after it has registered and before it heard so, the next start repeats the request and has the same endpoint", async () => {
  const { listen, stateFolder, endpoints } = await setUp();
  const first = listen();
  await first.next("ready");
  assert.equal(await first.kill("SIGINT"), 0);
  const file = join(stateFolder, readdirSync(stateFolder).find((name) => name.endsWith(".json")) ?? "");
  const unheard = JSON.stringify({
    ...JSON.parse(readFileSync(file, "utf8")),
    registration: "a registration",
  });
  writeFileSync(file, unheard);
  const killed = listen();
  const { endpoint_id: id } = await killed.next("ready");
  await killed.kill("SIGKILL");
  writeFileSync(file, unheard);
  const next = listen();
  assert.equal((await next.next("ready")).endpoint_id, id);
  assert.equal((await endpoints()).length, 1);
  await next.kill("SIGINT");
});

test("a key that is made here is taken by the service, and what was saved of a delivery is verified and decrypted", async () => {
  const { partner, stateFolder, listen, sendTest } = await setUp();
  const [node = "", ...command] = packed;
  const run = (...args: string[]) => spawnSync(node, [...command, ...args], { encoding: "utf8" });
  const keyFile = join(stateFolder, "made.pem");
  const runHere = (...args: string[]) => assayHere(args, {});
  const made = run("keys", "new", keyFile, "--name", "2026-03");
  assert.equal(made.status, 0, made.stderr);
  assert.equal(statSync(keyFile).mode & 0o777, 0o600);
  assert.ok(!/"[dpq]"|PRIVATE/.test(made.stdout), "nothing of the private half is printed");
  const listening = listen();
  const ready = await listening.next("ready");
  const { endpoint_id: id, signing_secret: secret, private_key_file: listenerKeyFile } = ready;
  // The printed lines are pasted into a shell.
  const env = cleanEnvironment({ ASSAY_URL: url, ASSAY_API_KEY: partner.key.secret, ENDPOINT_ID: id });
  const shell = spawn("sh", ["-c", made.stdout], { env, stdio: ["ignore", "pipe", "inherit"] });
  assert.equal(JSON.parse(await text(shell.stdout)).data.key_id, "2026-03");
  await sendTest(id);
  // Sealed to the newer key, which the listener does not have: reported as such, and not acknowledged.
  const line = await listening.next("delivery");
  assert.deepEqual([line.verified, line.event, line.status_code, line.status], [false, null, 401, "pending"]);
  const body = join(stateFolder, "body");
  writeFileSync(body, line.request.body);
  const signature = line.request.headers["x-service-signature"];
  const verify = ["--secret", secret, "--signature", signature];
  const opened = run("decrypt", body, "--private-key", keyFile, ...verify);
  assert.equal(opened.status, 0);
  assert.equal(JSON.parse(opened.stdout).id, line.event_id, opened.stderr);
  // One of the two options alone cannot verify anything.
  for (const half of [verify.slice(0, 2), verify.slice(2)]) {
    const unverified = await runHere("decrypt", body, "--private-key", keyFile, ...half);
    assert.deepEqual([unverified.code, unverified.stdout], [1, ""]);
    assert.match(unverified.stderr, /--secret and --signature are given together/);
  }
  const wrongKey = await runHere("decrypt", body, "--private-key", listenerKeyFile, ...verify);
  assert.equal(wrongKey.code, 3);
  assert.match(wrongKey.stderr, /encrypted to the key "2026-03"/);
  writeFileSync(body, `${line.request.body}A`);
  const changed = run("decrypt", body, "--private-key", keyFile, ...verify);
  assert.deepEqual([changed.status, /signature does not fit/.test(changed.stderr)], [3, true]);
  const again = await runHere("keys", "new", keyFile, "--name", "again");
  assert.equal(again.code, 1, "a key is never overwritten");
  assert.match(again.stderr, /made\.pem exists\. Name a file that does not exist\./);
  const unnamed = await runHere("keys", "new", join(stateFolder, "unnamed.pem"), "--json");
  assert.equal(unnamed.code, 0, unnamed.stderr);
  assert.match(JSON.parse(unnamed.stdout).key_id, /^\d{4}-\d\d-\d\d$/, "named by its date");
  await listening.kill("SIGINT");
});

test("after a rotation an API key, which may not read the new secret, acknowledges nothing and says what to do", async () => {
  const { partner, listen, sendTest } = await setUp();
  const local = await startLocalReceiver();
  const rotate = async (id: string) =>
    expectData(await partner.api.post(`/v1/webhooks/endpoints/${id}/signing-secret/rotate`));
  for (const args of [[], ["--forward-to", local.url, "--decrypted"]]) {
    const listening = listen(args);
    const { endpoint_id: id } = await listening.next("ready");
    await rotate(id);
    await sendTest(id);
    const line = await listening.next("delivery");
    assert.deepEqual([line.verified, line.status_code, line.status], [false, 401, "pending"]);
    assert.match(line.problem, /made with another secret.*Ctrl-C and start it again/);
    await listening.kill("SIGINT");
  }
  assert.equal(local.received.length, 0, "a receiver of plain events gets none that does not verify");
  const forwarding = listen(["--forward-to", local.url]);
  const { endpoint_id: id } = await forwarding.next("ready");
  await rotate(id);
  await sendTest(id);
  const line = await forwarding.next("delivery");
  assert.deepEqual([line.verified, line.status_code, line.status], [false, 200, "succeeded"]);
  await forwarding.kill("SIGINT");
});

test("after a rotation an owner's token takes the new secret over, and the delivery is verified with it", async () => {
  const { partner, stateFolder, sendTest } = await setUp();
  keepKeyPair(stateFolder, { url, key: partner.owner.token });
  const owner = startListen(packed, ["--url", url, "--key", partner.owner.token], stateFolder);
  const { endpoint_id: id } = await owner.next("ready");
  const { signing_secret: secret } = expectData(
    await partner.api.post(`/v1/webhooks/endpoints/${id}/signing-secret/rotate`),
  );
  await sendTest(id);
  assert.equal((await owner.next("secret")).signing_secret, secret);
  const line = await owner.next("delivery");
  assert.deepEqual([line.verified, line.status_code, line.status], [true, 200, "succeeded"]);
  await owner.kill("SIGINT");
});

test("two listeners with one key are two endpoints, and a subscription is theirs alone", async () => {
  const { listen, cancelSession, endpoints } = await setUp();
  const all = listen();
  await all.next("ready");
  const some = listen(["--events", "verification.session.failed,verification.session.cancelled"]);
  await some.next("ready");
  const none = listen(["--events", "verification.session.failed"]);
  const { endpoint_id: noneId } = await none.next("ready");
  await cancelSession("order-9");
  assert.equal((await all.next("delivery")).event_id, (await some.next("delivery")).event_id);
  assert.equal((await endpoints()).length, 3);
  const [listed] = await endpoints();
  assert.deepEqual([listed.id, listed.subscribed_event_types], [noneId, ["verification.session.failed"]]);
  for (const each of [all, some, none]) assert.equal(await each.kill("SIGINT"), 0);
});

test("behind a proxy that asks for a password, listen and doctor work with http and https, and say so where the proxy refuses", async () => {
  const { partner, stateFolder, sendTest } = await setUp();
  // Only the proxy resolves the name, so a request past it would fail.
  const proxy = await startProxy(url, authority.issue(["id.acme.test"]));
  const ca = join(stateFolder, "authority.pem");
  writeFileSync(ca, authority.certificate);
  const env = { HTTP_PROXY: proxy.url, https_proxy: proxy.url, NODE_EXTRA_CA_CERTS: ca };
  for (const base of ["http://id.acme.test", "https://id.acme.test"]) {
    const args = ["--url", base, "--key", partner.key.secret];
    const earlier = newStateFolder({ url: base, key: partner.key.secret });
    const listening = startListen(packed, args, earlier, { env });
    const { endpoint_id: id } = await listening.next("ready");
    await sendTest(id);
    assert.equal((await listening.next("delivery")).verified, true);
    assert.equal(await listening.kill("SIGINT"), 0);
    const [node = "", ...command] = packed;
    const doctor = spawn(node, [...command, "doctor", ...args], { env: cleanEnvironment(env) });
    const [printed] = await Promise.all([text(doctor.stdout), once(doctor, "close")]);
    assert.match(printed, /id\.acme\.test answers through the proxy 127\.0\.0\.1:\d+\./);
    if (base.startsWith("https:"))
      assert.match(printed, /\[ok\] +Certificate +The certificate of id\.acme\.test/);
  }
  assert.ok(proxy.asked.includes("CONNECT id.acme.test:443"), proxy.asked.join("\n"));
  assert.ok(proxy.asked.includes("POST http://id.acme.test/v1/webhooks/listeners"));
  const refused = [
    ["https://id.acme.test", proxy.without, /the proxy 127\.0\.0\.1:\d+ answered 407/],
    ["http://id.acme.test", proxy.without, /answered 407, which is no answer of Assay/],
    ["https://id.acme.test", "socks5://127.0.0.1:9", /https_proxy must be an address like/],
  ] as const;
  for (const [base, through, said] of refused) {
    const failed = await assayHere(["listen", "--url", base, "--key", partner.key.secret], {
      ASSAY_STATE_DIR: newStateFolder({ url: base, key: partner.key.secret }),
      http_proxy: through,
      https_proxy: through,
    });
    assert.match(failed.stderr, said);
    assert.notEqual(failed.code, 0);
  }
});

test("removing an endpoint ends its listener, which says so", async () => {
  const { partner, listen } = await setUp();
  const listening = listen();
  const { endpoint_id: id } = await listening.next("ready");
  await partner.api.delete(`/v1/webhooks/endpoints/${id}`);
  await listening.next("ended");
  assert.equal((await listening.closed).code, 5);
  assert.match(listening.printed, /removed elsewhere/);
});

test("what cannot work is explained in a sentence that says what to do, with a separate exit code", async () => {
  const { partner } = await setUp();
  const reader = await createKey(partner.owner, ["webhooks:read"]);
  const tries: [args: string[], code: number, message: RegExp][] = [
    [["--url", url, "--key", reader.secret], 3, /lacks the scope webhooks:write\. Give the key the scope/],
    [["--url", url, "--key", `kk_${"x".repeat(32)}`], 3, /does not know this API key/],
    [["--url", "http://127.0.0.1:9", "--key", "kk_x"], 4, /Is --url right, and is the service running/],
    [["--url", `${url}/docs`, "--key", partner.key.secret], 4, /without \/v1/],
    [["--key", "kk_x"], 1, /--url is missing/],
    [["--url", url], 1, /--key is missing/],
    [["--url", url, "--key", "kk_x", "--respond", "50"], 1, /statuses from 200 to 599/],
    [["--url", url, "--key", "kk_x", "--header", "X-Trace: 1"], 1, /--header needs --forward-to/],
    [["--url", url, "--key", "kk_x", "--skip-verify"], 1, /--skip-verify needs --forward-to/],
    [["--url", url, "--key", "kk_x", "--forward-to", "ftp://a"], 1, /an address like localhost:4000\/hook/],
    ...["X-Trace", "Bad Name: 1", "Content-Length: 1"].map((header): [string[], number, RegExp] => [
      ["--url", url, "--key", "kk_x", "--forward-to", "4000", "--header", header],
      1,
      /--header must be like/,
    ]),
    [["--url", url, "--key", partner.key.secret, "--events", "no.such"], 3, /--events must be one of: verif/],
    [
      ["--url", url, "--key", partner.key.secret, "--events", "verification.session.suceeded"],
      3,
      /--events must be one of: .*Did you mean `verification\.session\.succeeded`\?/,
    ],
    [
      ["--url", url, "--key", partner.key.secret, "--replay", "evt_x"],
      1,
      /--replay must be the id of an event/,
    ],
  ];
  for (const [args, code, message] of tries) {
    const [, base, , key] = args;
    const earlier = base !== undefined && key !== undefined ? { url: base, key } : undefined;
    const ended = await assayHere(["listen", ...args], { ASSAY_STATE_DIR: newStateFolder(earlier) });
    assert.match(ended.stderr, message);
    assert.equal(ended.code, code, ended.stderr);
  }
  // A separate process prints the same sentence and has the same exit code.
  const [args, code, message] = tries[0] ?? assert.fail();
  const listening = startListen(packed, args, newStateFolder());
  assert.equal((await listening.closed).code, code);
  assert.match(listening.printed, message);
  const left = expectData<any[]>(await partner.api.get("/v1/webhooks/endpoints"));
  assert.deepEqual(left, []);
});
