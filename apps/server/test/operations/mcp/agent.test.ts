import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test from "node:test";
import { promisify } from "node:util";
import { startTestService } from "../../support/service.ts";

const { url } = await startTestService({ role: "api" });

const textAt = async (address: string, headers: Record<string, string> = {}) => {
  const answer = await fetch(new URL(address, url), { headers });
  assert.equal(answer.status, 200, address);
  return { text: await answer.text(), type: answer.headers.get("content-type") ?? "" };
};

test("an agent that knows the address alone comes to decrypted claims by what it reads there", async () => {
  const { text: index } = await textAt("/llms.txt");
  const link = /With HTTP alone, \[[^\]]+\]\(([^)]+)\)/.exec(index)?.[1] ?? "";
  const { text: guide } = await textAt(link);
  const section = guide.slice(guide.indexOf("## With HTTP alone"));
  const script = /^```js agent\n([\s\S]*?)^```$/m.exec(section)?.[1];
  assert.ok(script !== undefined, `${link} has the script`);
  const folder = mkdtempSync(join(tmpdir(), "assay-agent-"));
  try {
    writeFileSync(join(folder, "agent.mjs"), script);
    const { stdout } = await promisify(execFile)(process.execPath, ["agent.mjs"], {
      cwd: folder,
      env: { BASE: url },
    });
    const event = JSON.parse(stdout) as { type: string; data: { claims: Record<string, string> } };
    assert.equal(event.type, "verification.session.succeeded");
    assert.equal(event.data.claims.family_name, "SPECIMEN");
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test("everything that the index of agents links to is there, as text", async () => {
  const { text: index } = await textAt("/llms.txt");
  const links = [...index.matchAll(/\]\((\/[^)#]+)/g)].map(([, link = ""]) => link);
  assert.ok(links.length > 30);
  for (const link of new Set(links)) {
    const { type } = await textAt(link);
    assert.match(type, /^(?:text\/(?:markdown|plain)|application\/json)/, link);
  }
});

test("one text has every guide for partners and the reference of what a key can call", async () => {
  const { text } = await textAt("/llms-full.txt");
  for (const title of [
    "# Sessions",
    "# Webhooks",
    "# Agents",
    "# Versions and changes",
    "# Changelog for partners",
  ])
    assert.ok(text.includes(`${title}\n`), title);
  assert.ok(text.includes("`POST /v1/sessions`"));
  assert.ok(!text.includes("# Operating\n"));
  assert.ok(!text.includes("`GET /v1/operator/status`\n"));
});
