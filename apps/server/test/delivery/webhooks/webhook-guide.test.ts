import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import test, { after } from "node:test";
import { pathToFileURL } from "node:url";
import { syntaxProblems } from "../../support/syntax.ts";
import { checkSample, samples, samplesFolder, startSampleReceiver } from "../../support/webhook-samples.ts";

const root = join(import.meta.dirname, "../../../../..");
const guide = readFileSync(join(root, "docs/webhook-samples.md"), "utf8");
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

const receiver = await startSampleReceiver();
const { endpoint, privateKey, receive } = receiver;

test("the examples of the guide verify and open what the service sends, and refuse what was tampered with", async () => {
  const request = await receive();
  const { openWebhook } = await import(join(root, "examples/webhooks/open-webhook.mjs"));
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

test("every sample is a text of its language, also where nothing on this machine can run it", async () => {
  for (const { name, file, grammar, driver } of samples) {
    const text = readFileSync(join(samplesFolder, file), "utf8");
    assert.deepEqual(await syntaxProblems(grammar, text), [], name);
    assert.deepEqual(await syntaxProblems(grammar, driver[1]), [], name);
    // The check works: a missing bracket is noticed in each of them.
    const broken = text.replace(/\)(?=[^)]*$)/, "");
    assert.notDeepEqual(await syntaxProblems(grammar, broken), [], `${name}, broken`);
  }
});

test("the sample in TypeScript opens what the service sends, and refuses a body that was changed", async () => {
  const sample = samples.find(({ name }) => name === "TypeScript");
  assert.ok(sample);
  await checkSample(sample, receiver);
});

test("the sample in Ruby needs no gem in a Gemfile", () => {
  const text = readFileSync(join(samplesFolder, "open_webhook.rb"), "utf8");
  const required = [...text.matchAll(/^\s*require "([^"]+)"$/gm)].map(([, library]) => library);
  assert.deepEqual(required, ["json", "openssl"]);
});
