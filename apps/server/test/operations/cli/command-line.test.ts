import assert from "node:assert/strict";
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test, { after } from "node:test";
import { runCommand } from "@assay/cli/command";
import { commandsFor } from "../../../src/operations/cli/commands.ts";
import { Api, createKey, createPartner, expectData, expectError } from "../../support/api.ts";
import { createTestDatabase } from "../../support/database.ts";
import { assay, assayHere, startAssay } from "../../support/process.ts";
import { testRing } from "../../support/test-ring.ts";

const folder = mkdtempSync(join(tmpdir(), "assay-cli-"));
after(() => rmSync(folder, { recursive: true, force: true }));

test("every command explains itself, and an unknown one is refused with the list", async () => {
  const overview = await assay(["--help"], {});
  assert.equal(overview.code, 0);
  const names = [...overview.stdout.matchAll(/^ {2}([a-z-]+(?: [a-z-]+){0,2}) {2,}/gm)].map(
    (match) => match[1] ?? "",
  );
  assert.ok(names.includes("start") && names.includes("keys rotate"), overview.stdout);
  const commands = await commandsFor([]);
  assert.deepEqual(
    names,
    commands.map(({ name }) => name),
  );
  for (const { name } of commands) {
    const lines: string[] = [];
    const typed = [...name.split(" "), "--help"];
    // It is enough to load the command of its first word.
    assert.equal(await runCommand(await commandsFor(typed), typed, (line) => lines.push(line)), 0);
    assert.match(lines.join("\n"), new RegExp(`^Usage: assay ${name}`));
  }
  const unknown = await assay(["dance"], {});
  assert.equal(unknown.code, 1);
  assert.match(unknown.stderr, /no command "dance"[\s\S]*keys rotate/);
  assert.equal((await assayHere(["migrate", "--force"], {})).code, 1);
});

test("a bad configuration is reported whole and ends with a non-zero code", async () => {
  const { code, stderr } = await assay(["start"], {
    PORT: "http",
    LOG_LEVEL: "loud",
    DATABASE_URL: "postgres://localhost/x",
  });
  assert.equal(code, 1);
  for (const name of ["PORT", "LOG_LEVEL", "SECRET_KEYS"]) assert.match(stderr, new RegExp(`- ${name} `));
  assert.ok(!stderr.includes("    at "), "no stack for a mistake of the operator's");
});

test("a role of an earlier release is refused with a sentence on what replaces it", async () => {
  for (const role of ["chip", "face"]) {
    const { code, stderr } = await assayHere(["start", "--role", role], {});
    assert.equal(code, 1);
    assert.match(stderr, new RegExp(`--role ${role} is gone\\..*run more of \`assay start --role api\``));
  }
});

test("a backup taken while the service runs restores accounts, keys and the ring", async () => {
  const env = { DATA_DIR: join(folder, "original") };
  const archive = join(folder, "backup.tar.gz");
  const service = await startAssay(env);
  const { owner, key } = await createPartner(new Api(service.url));
  const made = await assayHere(["backup", archive], env);
  assert.equal(made.code, 0, made.stderr);
  assert.equal(statSync(archive).mode & 0o077, 0);
  assert.equal(await service.stop(), 0);

  const copy = { DATA_DIR: join(folder, "copy") };
  const restored = await assayHere(["restore", archive], copy);
  assert.equal(restored.code, 0, restored.stderr);
  const second = await startAssay(copy);
  expectError(await new Api(second.url).as(key.secret).get("/v1/auth/api-keys"), 403, "API_KEY_NOT_ALLOWED");
  expectData(
    await new Api(second.url).post("/v1/auth/sign-in/email", {
      email: owner.email,
      password: owner.password,
    }),
  );
  const again = await assayHere(["restore", archive], copy);
  assert.equal(again.code, 1);
  assert.match(again.stderr, /not empty/);
  assert.equal(await second.stop(), 0);
});

test("an orderly stop finishes requests in flight, refuses new ones and writes the request counts", async () => {
  const database = await createTestDatabase();
  const env = { DATABASE_URL: database.url, SECRET_KEYS: testRing, DATA_DIR: join(folder, "stop") };
  const service = await startAssay(env);
  const partner = await createPartner(new Api(service.url));
  const counted = await createKey(partner.owner);
  const requests = Array.from({ length: 40 }, () => counted.api.get("/v1/auth/api-keys"));
  // Slow ones: hashing a password takes longer than stopping.
  const slow = Array.from({ length: 6 }, () =>
    new Api(service.url).post("/v1/auth/sign-in/email", {
      email: partner.owner.email,
      password: partner.owner.password,
    }),
  );
  const served = (await Promise.all(requests)).filter(({ status }) => status !== 503);
  const stopped = service.stop();
  const answers = await Promise.allSettled(slow);
  for (const answer of answers) {
    if (answer.status === "fulfilled")
      assert.ok([200, 503].includes(answer.value.status), String(answer.value.status));
  }
  assert.equal(await stopped, 0);
  await assert.rejects(fetch(`${service.url}/healthz`));

  const next = await startAssay(env);
  const keys = expectData<{ id: string; request_count: number }[]>(
    await new Api(next.url).as(partner.owner.token).get("/v1/auth/api-keys"),
  );
  assert.equal(keys.find(({ id }) => id === counted.id)?.request_count, served.length);
  assert.equal(await next.stop(), 0);
  await database.drop();
});
