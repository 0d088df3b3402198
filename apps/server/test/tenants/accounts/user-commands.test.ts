import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test, { after } from "node:test";
import { sql } from "../../../src/platform/db/sql.ts";
import { expectData, expectError } from "../../support/api.ts";
import { assay, assayHere } from "../../support/process.ts";
import { startTestService } from "../../support/service.ts";
import { testRing } from "../../support/test-ring.ts";

const folder = mkdtempSync(join(tmpdir(), "assay-users-"));
after(() => rmSync(folder, { recursive: true, force: true }));
const password = "correct horse battery";
const passwordFile = join(folder, "password");
writeFileSync(passwordFile, `${password}\n`);

const service = await startTestService({ env: { SIGN_UP: "closed" } });
const { api, core } = service;
const env = { DATABASE_URL: service.databaseUrl, SECRET_KEYS: testRing, DATA_DIR: folder };
const signIn = (email: string) => api.post("/v1/auth/sign-in/email", { email, password });

test("the operator makes the first account where sign-up is closed", async () => {
  const args = [
    "user",
    "create",
    "--name",
    "Ada",
    "--email",
    "Ada@Example.com",
    "--password-file",
    passwordFile,
  ];
  const made = await assay(args, env);
  assert.equal(made.code, 0, made.stderr);
  const { user } = expectData(await signIn("ada@example.com"));
  assert.equal(user.email_verified, true);
  const again = await assay(args, env);
  assert.equal(again.code, 1);
  assert.match(again.stderr, /An account with this `email` exists already/);
});

test("outside of tests a password is kept as Argon2id of 19 MiB and two passes", async () => {
  const [kept] = await core.db.rows<{ passwordHash: string }>(sql`select password_hash from users`);
  assert.match(kept?.passwordHash ?? "", /^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
});

test("an account that was set aside because of its address gets another one", async () => {
  const { user } = expectData(await signIn("ada@example.com"));
  await core.db.run(sql`update users set email = '"a,b"@example.com', email_folded = null`);
  await service.runJob("fold-emails");
  const listed = await assayHere(["user", "set-email"], env);
  assert.equal(listed.stdout.trim(), `${user.id}  "a,b"@example.com  Ada`);
  const set = (id: string, email: string) =>
    assayHere(["user", "set-email", "--id", id, "--email", email], env);
  assert.match((await set(user.id, "a,b@example.com")).stderr, /--email must be/);
  assert.match((await set("everybody", "b@example.com")).stderr, /--id must be/);
  expectError(await signIn("b@example.com"), 401, "UNAUTHORIZED");
  const done = await set(user.id, "b@example.com");
  assert.equal(done.code, 0, done.stderr);
  assert.equal(expectData(await signIn("B@example.com")).user.id, user.id);
  assert.match((await assayHere(["user", "set-email"], env)).stdout, /Every account/);
});
