import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test from "node:test";
import { freePort } from "../../support/free-port.ts";
import { until } from "../../support/until.ts";

const root = new URL("../../../../../", import.meta.url).pathname;
const readGuide = (name: string) => readFileSync(join(root, `docs/${name}.md`), "utf8");
const blocks = (name: string, guide = readGuide("first-verification")) =>
  [...guide.matchAll(new RegExp(`^\`\`\`sh ${name}\\n([\\s\\S]*?)^\`\`\``, "gm"))].map(
    ([, code]) => code ?? "",
  );
const missing = ["curl", "npm"].find(
  (command) => spawnSync(command, ["--version"], { stdio: "ignore" }).error !== undefined,
);

async function answers(url: string): Promise<boolean> {
  try {
    return (await fetch(url)).ok;
  } catch {
    return false;
  }
}

test("the guide to the first verification works as it is printed, from the start of the service to the decrypted claims", {
  skip: missing === undefined ? false : `no ${missing} on this machine`,
}, async (t) => {
  const files = mkdtempSync(join(tmpdir(), "assay-guide-"));
  const port = await freePort();
  const env = {
    PATH: `${join(process.execPath, "..")}:${process.env.PATH ?? ""}`,
    HOME: process.env.HOME ?? "/tmp",
    FILES: files,
    BASE: `http://127.0.0.1:${port}`,
    RECEIVER_PORT: String(await freePort()),
    PORT: String(port),
    DATA_DIR: join(files, "data"),
    XDG_STATE_HOME: join(files, "state"),
  };
  const service = spawn("sh", ["-eu", "-c", blocks("guide-service").join("\n")], {
    cwd: root,
    env,
    stdio: ["ignore", "ignore", "inherit"],
    detached: true,
  });
  t.after(async () => {
    if (service.pid !== undefined && service.exitCode === null) {
      process.kill(-service.pid, "SIGTERM");
      await once(service, "close");
    }
    rmSync(files, { recursive: true, force: true });
  });
  await until("the service is ready", async () => {
    assert.equal(service.exitCode, null, "the service ended");
    return answers(`${env.BASE}/readyz`);
  });
  const steps = blocks("guide");
  assert.equal(steps.length, 7);
  const child = spawn("sh", ["-eu", "-c", steps.join("\n")], {
    cwd: root,
    env,
    stdio: ["ignore", "pipe", "inherit"],
  });
  let output = "";
  child.stdout.on("data", (chunk) => {
    output += chunk;
  });
  const [code] = await once(child, "close");
  assert.equal(code, 0, output);
  const lines = output.trim().split("\n");
  assert.equal(lines[0], "acme-shop");
  assert.ok(lines.includes("succeeded"), output);
  const event = JSON.parse(lines.at(-2) ?? "");
  assert.equal(event.type, "verification.session.succeeded");
  assert.equal(event.metadata.client_reference_id, "customer-17");
  assert.equal(event.data.claims.age_over_18, true);
  assert.match(event.data.claims.family_name, /^[A-Z]+$/);
  assert.equal(
    JSON.parse(lines.at(-1) ?? "").type,
    "webhook.endpoint.test",
    "the partner's own code has read it",
  );
  // The guide to wallets begins with a ready listener, an account and an organization.
  const wallets = blocks("guide", readGuide("accept-wallets"));
  assert.equal(wallets.length, 4);
  const end = steps.slice(5, 6).map((step) => step.slice(step.indexOf("kill ")));
  const accepted = spawnSync("sh", ["-eu", "-c", [...steps.slice(0, 2), ...wallets, ...end].join("\n")], {
    cwd: root,
    env,
    encoding: "utf8",
  });
  assert.equal(accepted.status, 0, accepted.stdout + accepted.stderr);
  const { claims, evidence } = JSON.parse(/^\{\n[\s\S]*?^\}$/m.exec(accepted.stdout)?.[0] ?? "");
  assert.deepEqual([claims.age_over_18, claims.service_document_id], [true, null]);
  assert.equal(evidence.credential, "eudi_pid");
  assert.match(accepted.stdout, /Failed: document_authenticity_failed\.\n$/);
  // The script for CI, with a recipe as the partner's server.
  const ci = readGuide("test-in-ci");
  assert.deepEqual(blocks("guide-service", ci), blocks("guide-service"));
  assert.ok(
    steps.join("\n").includes(blocks("guide", ci).join("\n")),
    "its other command is one of this guide",
  );
  const inCi = spawnSync("sh", [join(root, "examples/ci/verify.sh")], {
    cwd: files,
    env: {
      ...env,
      ASSAY_URL: env.BASE,
      PORT: String(await freePort()),
      START: `node ${join(root, "examples/webhooks/fastify/receiver.mjs")}`,
      TMPDIR: files,
    },
    encoding: "utf8",
  });
  assert.equal(inCi.status, 0, inCi.stdout + inCi.stderr);
  assert.match(inCi.stdout, /^passport-expired: verification\.session\.failed passport-expired$/m);
  // A listener that the service refuses ends the guide in step 3, with what the listener says.
  const refused = spawnSync("sh", ["-eu", "-c", steps.slice(0, 2).join("\nASSAY_API_KEY=kk_wrong\n")], {
    cwd: root,
    env,
    encoding: "utf8",
  });
  assert.equal(refused.status, 1, refused.stdout);
  assert.match(
    refused.stderr,
    /No "ready" came to \S+events\.jsonl\. The listener says:\n[\s\S]*this API key/,
  );
});
