import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import test, { after } from "node:test";
import { sql } from "../../../src/platform/db/sql.ts";
import { newUuid } from "../../../src/platform/kernel/ids.ts";
import { expectData, expectError, signUpOwner } from "../../support/api.ts";
import { mailsTo } from "../../support/mailed-links.ts";
import { startTestService } from "../../support/service.ts";

const env = { TRUST_PROXY: "127.0.0.1" };
const service = await startTestService({ env });
const { api, clock } = service;
const password = "correct horse battery";
const create = (email: string) => api.post("/v1/auth/sign-up/email", { name: "Ada", email, password });
const signIn = (email: string, given = password) =>
  api.post("/v1/auth/sign-in/email", { email, password: given });

/** Addresses that some mail programs read differently. */
const hostile = [
  "x,victim@corp.dev",
  "ceo@corp.dev,x@y.dev",
  "ceo@corp.dev;x.dev",
  "a<b@corp.dev",
  "<victim@corp.dev>",
  "victim(x)@corp.dev",
  '"x"@corp.dev',
  "a:b@corp.dev",
  "a\\b@corp.dev",
  "a b@corp.dev",
  "vİctim@corp.dev",
  "victim@corp.dev\r\nRCPT TO:<x@y.dev>",
  "a@corp.dev:25",
  "a@127.0.0.1",
  // Fits the pattern; only IDNA knows that there is no such domain.
  "a@\u0301x.dev",
];

/** A mail server that accepts everything and shows each command of the wire. Resolves with its port. */
async function listenForMail(onCommand: (command: string) => void): Promise<number> {
  const server = createServer((socket) => {
    let rest = "";
    let inMessage = false;
    socket.write("220 sink\r\n");
    socket.on("data", (chunk) => {
      const lines = (rest + chunk.toString("utf8")).split("\r\n");
      rest = lines.pop() ?? "";
      for (const line of lines) {
        if (inMessage && line !== ".") continue;
        if (!inMessage) onCommand(line);
        inMessage = line === "DATA";
        socket.write(inMessage ? "354 go on\r\n" : "250 ok\r\n");
      }
    });
    socket.on("error", () => {});
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", () => resolve()));
  after(() => void server.close());
  return (server.address() as AddressInfo).port;
}

test("however an address is spelled, it is one account", async () => {
  const { user } = expectData(await create("O@BÜCHER.example"), 201);
  assert.equal(user.email, "O@xn--bcher-kva.example");
  for (const email of ["o@bücher.example", "O@Bu\u0308cher.EXAMPLE", "o@xn--bcher-kva.example"]) {
    expectError(await create(email), 409, "EMAIL_TAKEN", /`email`/);
    assert.equal(expectData(await signIn(email)).user.id, user.id);
  }
});

test("guesses and mails are counted for the account, not for the spelling", async () => {
  const email = "victim@example.com";
  expectData(await create(email), 201);
  const spellings = [
    email,
    "VICTIM@example.com",
    "Victim@EXAMPLE.com",
    "victim@ｅｘａｍｐｌｅ.com",
    "victim@exam\u00adple.com",
  ];
  for (let i = 0; i < 10; i++)
    expectError(await signIn(spellings[i % spellings.length] ?? email, "a wrong guess"), 401, "UNAUTHORIZED");
  for (const spelling of spellings) expectError(await signIn(spelling), 429, "RATE_LIMITED");
  for (let i = 0; i < 40; i++) {
    const spelling = spellings[i % spellings.length] ?? email;
    const headers = { "x-forwarded-for": `198.51.100.${i}` };
    expectData(await api.post("/v1/auth/sign-in/magic-link", { email: spelling }, headers), 202);
  }
  assert.equal((await mailsTo(service, email)).length, 8);
});

test("what could be read as another address is refused wherever an address is taken, and the field is named", async () => {
  const owner = await signUpOwner(api);
  for (const email of hostile) {
    expectError(await create(email), 400, "BAD_REQUEST", /`email`/);
    expectError(await signIn(email), 400, "BAD_REQUEST", /`email`/);
    for (const path of ["/v1/auth/sign-in/magic-link", "/v1/auth/password/forgot"])
      expectError(await api.post(path, { email }), 400, "BAD_REQUEST", /`email`/);
    const change = { email, password: owner.password };
    expectError(await owner.api.post("/v1/auth/account/email", change), 400, "BAD_REQUEST", /`email`/);
    const invitation = { email, role: "member" };
    expectError(await owner.api.post("/v1/auth/orgs/invitations", invitation), 400, "BAD_REQUEST", /`email`/);
    const profile = { support_email: email };
    expectError(await owner.api.patch("/v1/auth/orgs", profile), 400, "BAD_REQUEST", /`support_email`/);
  }
  const profile = expectData(
    await owner.api.patch("/v1/auth/orgs", { support_email: "Help@BÜCHER.example" }),
  );
  assert.equal(profile.support_email, "Help@xn--bcher-kva.example");
});

test("a mail goes to exactly the one address", async () => {
  const recipients: string[] = [];
  const port = await listenForMail((command) => {
    if (command.startsWith("RCPT")) recipients.push(command);
  });
  const mailing = await startTestService({ env: { SMTP_URL: `smtp://127.0.0.1:${port}` } });
  const taken = [
    "a+b'c!#$%&*/=?^_`{|}~.d-e@corp.dev",
    "Grace.Hopper@BÜCHER.example",
    "dots..in.a.row@corp.dev",
  ];
  for (const email of [...hostile, ...taken])
    await mailing.api.post("/v1/auth/sign-up/email", { name: "Ada", email, password });
  await mailing.runJob("send-mails");
  assert.deepEqual(recipients.sort(), [
    "RCPT TO:<Grace.Hopper@xn--bcher-kva.example>",
    "RCPT TO:<a+b'c!#$%&*/=?^_`{|}~.d-e@corp.dev>",
  ]);
});

test("the database folds nothing: no statement has a function for it", () => {
  const folder = new URL("../../../src/", import.meta.url);
  const stores = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((path) =>
    /\.store\.ts$/.test(path),
  );
  assert.ok(stores.length > 20);
  for (const path of stores)
    assert.doesNotMatch(
      readFileSync(new URL(path, folder), "utf8"),
      /\b(?:lower|upper|initcap)\(|\bi?like\b.*email|citext/i,
      path,
    );
});

test("accounts of an earlier version keep their address; of two that fold alike, or without one, none is lost and the start goes on", async () => {
  const earlier = await startTestService({ env });
  const { db } = earlier.core;
  const made: Record<string, string> = {};
  const add = async (email: string, verified: boolean) => {
    const { user, token } = expectData(
      await earlier.api.post("/v1/auth/sign-up/email", {
        name: "Ada",
        email: `x${Object.keys(made).length}@example.com`,
        password,
      }),
      201,
    );
    await db.run(sql`
      update users set email = ${email}, email_folded = null, email_verified_at = ${verified ? clock.now() : null}
      where id = ${user.id}`);
    made[email] = user.id;
    return earlier.api.as(token);
  };
  await add("Plain@Example.com", false);
  await add("first@Ｃorp.dev", false);
  await add("first@corp.dev", false);
  await add("second@BU\u0308CHER.example", false);
  await add("second@bücher.example", true);
  const quoted = await add('"x,y"@corp.dev', false);
  const owner = await signUpOwner(earlier.api);
  expectData(
    await owner.api.post("/v1/auth/orgs/invitations", { email: "guest@corp.dev", role: "member" }),
    201,
  );
  await db.run(sql`update invitations set email = 'Guest@Corp.dev', email_folded = null`);
  const insertAlike = sql`
    insert into invitations (id, organization_id, email, role, token_hash, invited_by, expires_at, created_at)
    select ${newUuid(clock.now())}, organization_id, 'guest@Ｃorp.dev', role, sha256(token_hash), invited_by, expires_at, created_at
    from invitations`;
  await db.run(insertAlike);

  const after = await startTestService({ env, databaseUrl: earlier.databaseUrl, clock });
  const find = async (email: string) =>
    (await after.api.post("/v1/auth/sign-in/email", { email, password })).body.data?.user.id;
  assert.equal(await find("plain@example.com"), made["Plain@Example.com"]);
  assert.equal(await find("first@corp.dev"), made["first@corp.dev"], "the plain spelling");
  assert.equal(await find("second@bücher.example"), made["second@bücher.example"], "the proven one");
  const rows = await db.rows<{ email: string }>(
    sql`select email from users where email_set_aside_at is not null order by email`,
  );
  assert.deepEqual(
    rows.map(({ email }) => email),
    ['"x,y"@corp.dev', "first@Ｃorp.dev", "second@BU\u0308CHER.example"],
  );
  const warned = after.logLines.filter((line) => line.includes("can no longer sign in with it"));
  assert.equal(warned.length, 3);
  assert.ok(warned.some((line) => line.includes(made['"x,y"@corp.dev'] ?? "?")));
  // The account itself goes on, and its owner can take an address that is one.
  assert.equal(expectData(await quoted.get("/v1/auth/account")).email, '"x,y"@corp.dev');
  assert.equal((await quoted.post("/v1/auth/account/email", { email: "xy@corp.dev", password })).status, 202);
  const invitations = expectData(await owner.api.get("/v1/auth/orgs/invitations"));
  assert.equal(invitations.length, 2);
  // Rows that a process of the previous version writes meanwhile are found soon.
  await db.run(
    sql`update users set email = 'Late@Example.com', email_folded = null where id = ${made["Plain@Example.com"] ?? ""}`,
  );
  await after.runJob("fold-emails");
  assert.equal(await find("late@example.com"), made["Plain@Example.com"]);
});
