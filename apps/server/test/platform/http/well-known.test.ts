import assert from "node:assert/strict";
import test from "node:test";
import { dayMs } from "../../../src/platform/kernel/clock.ts";
import { startTestService } from "../../support/service.ts";

const plain = await startTestService({ role: "api" });
const start = (contact: string) =>
  startTestService({
    role: "api",
    databaseUrl: plain.databaseUrl,
    env: { SECURITY_CONTACT: contact, PUBLIC_URL: "https://assay.example.org" },
  });

test("security.txt names the contact of the operator and is never expired; without a contact there is none", async () => {
  assert.equal((await fetch(`${plain.url}/.well-known/security.txt`)).status, 404);
  for (const [contact, shown] of [
    ["security@example.org", "mailto:security@example.org"],
    ["https://example.org/report", "https://example.org/report"],
  ] as const) {
    const service = await start(contact);
    const read = async () => {
      const response = await fetch(`${service.url}/.well-known/security.txt`);
      assert.equal(response.status, 200);
      assert.match(response.headers.get("content-type") ?? "", /^text\/plain/);
      return response.text();
    };
    const text = await read();
    assert.ok(text.startsWith(`Contact: ${shown}\n`), text);
    assert.match(text, /^Canonical: https:\/\/assay\.example\.org\/\.well-known\/security\.txt$/m);
    service.clock.advance(365 * dayMs);
    const expires = Date.parse(/^Expires: (.*)$/m.exec(await read())?.[1] ?? "");
    assert.ok(expires > service.clock.now().getTime());
  }
});

test("search engines may read the guides and no page of a person; the icon is where the pages have it", async () => {
  const robots = await (await fetch(`${plain.url}/robots.txt`)).text();
  assert.match(robots, /^User-agent: \*\nDisallow: \/verify$/m);
  assert.doesNotMatch(robots, /Disallow: \/docs|Disallow: \/$/m);
  const icon = await fetch(`${plain.url}/favicon.ico`, { redirect: "manual" });
  assert.deepEqual([icon.status, icon.headers.get("location")], [302, "/assets/icon.svg"]);
  assert.equal((await fetch(`${plain.url}/favicon.ico`)).status, 200);
});
