import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import test, { after } from "node:test";
import { pathToFileURL } from "node:url";
import { createPartner, expectData } from "../support/api.ts";
import { createAuthority } from "../support/certificate.ts";
import { createReceivingEndpoint, partnerKeys, startReceiver } from "../support/receiver.ts";
import { startTestService } from "../support/service.ts";

const root = join(import.meta.dirname, "../../../..");
const guide = readFileSync(join(root, "docs/webhooks.md"), "utf8");
// Inside the project, so that the examples find the same packages as a partner who installed them.
const folder = mkdtempSync(join(root, "node_modules/.guide-"));
after(() => rmSync(folder, { recursive: true, force: true }));

/** The example of the guide that begins with a comment that names its file. */
async function example(name: string): Promise<Record<string, any>> {
  const blocks = [...guide.matchAll(/```js\n([\s\S]*?)```/g)].map(([, code]) => code ?? "");
  const code = blocks.find((block) => block.startsWith(`// ${name}`));
  assert.ok(code, `the guide has ${name}`);
  const path = join(folder, name);
  writeFileSync(path, code);
  return import(pathToFileURL(path).href);
}

test("the examples of the guide verify and open what the service sends, and refuse what was tampered with", async () => {
  const authority = createAuthority();
  const { api, clock, runJob } = await startTestService({
    env: { WEBHOOK_ALLOWED_PRIVATE_HOSTS: "127.0.0.1" },
    webhooks: { ca: authority.certificate },
  });
  clock.set(new Date());
  const receiver = await startReceiver(authority);
  const partner = await createPartner(api);
  const endpoint = await createReceivingEndpoint(partner.api, receiver.url);
  expectData(await partner.api.post(`/v1/webhooks/endpoints/${endpoint.id}/test`), 202);
  await runJob("deliver-webhooks");
  const [request] = receiver.received;
  assert.ok(request);
  const { privateKey } = partnerKeys();

  const { openWebhook } = await example("open-webhook.mjs");
  const { openWithLibraries } = await example("with-libraries.mjs");
  const event = openWebhook(request.headers, request.body, endpoint.secret, privateKey);
  assert.equal(event.type, "webhook.endpoint.test");
  assert.deepEqual(event.data, { webhook_endpoint_id: endpoint.id });
  assert.deepEqual(
    await openWithLibraries(request.headers, request.body, endpoint.secret, privateKey),
    event,
  );

  const tampered = request.body.replace(/.$/, (last) => (last === "A" ? "B" : "A"));
  assert.throws(() => openWebhook(request.headers, tampered, endpoint.secret, privateKey), /wrong signature/);
  assert.throws(() => openWebhook(request.headers, request.body, "whsec_x", privateKey), /wrong signature/);
  assert.throws(() => openWebhook({}, request.body, endpoint.secret, privateKey), /no signature/);
  const tooLate = Date.now() / 1000 + 301;
  assert.throws(
    () => openWebhook(request.headers, request.body, endpoint.secret, privateKey, tooLate),
    /too old/,
  );
});
