import assert from "node:assert/strict";
import type { AddressInfo } from "node:net";
import test, { after } from "node:test";
import { SMTPServer } from "smtp-server";
import { type Api, expectData, expectError, signUp } from "../../support/api.ts";
import { startTestService } from "../../support/service.ts";

/** A mail server that keeps what it gets, or refuses it. */
const received: { to: string; source: string }[] = [];
let refusing = false;
const smtp = new SMTPServer({
  authOptional: true,
  disabledCommands: ["STARTTLS"],
  onData(stream, session, done) {
    const chunks: Buffer[] = [];
    stream.on("data", (chunk: Buffer) => chunks.push(chunk));
    stream.on("end", () => {
      if (refusing) return done(new Error("try again later"));
      const source = Buffer.concat(chunks).toString().replace(/=\r\n/g, "").replace(/=3D/g, "=");
      for (const { address } of session.envelope.rcptTo) received.push({ to: address, source });
      done();
    });
  },
});
await new Promise<void>((resolve) => smtp.listen(0, "127.0.0.1", () => resolve()));
after(() => new Promise<void>((resolve) => smtp.close(() => resolve())));

const env = {
  SMTP_URL: `smtp://127.0.0.1:${(smtp.server.address() as AddressInfo).port}`,
  PUBLIC_URL: "http://localhost:3000",
};
const service = await startTestService({ env });
const second = await startTestService({ env, databaseUrl: service.databaseUrl, clock: service.clock });
const { api } = service;
/** The same installation before it had a mail server: its accounts are signed in and not verified. */
const before = await startTestService({
  databaseUrl: service.databaseUrl,
  clock: service.clock,
  role: "api",
});

async function signUpBefore() {
  const user = await signUp(before.api);
  return { ...user, api: api.as(user.token) };
}

async function mailed(to: string, pattern: RegExp): Promise<string> {
  for (const each of [service, second]) await each.runJob("send-mails");
  const found = received.filter((mail) => mail.to === to && pattern.test(mail.source)).at(-1);
  const value = pattern.exec(found?.source ?? "")?.[1];
  assert.ok(value, `nothing like ${pattern} was mailed`);
  return value;
}

async function verifyEmail(user: { api: Api; email: string }): Promise<void> {
  expectData(await user.api.post("/v1/auth/account/email/verification"), 202);
  const token = await mailed(user.email, /verify-email#token=([A-Za-z0-9]{43})/);
  expectData(await user.api.post("/v1/auth/account/email/verify", { token }));
}

test("invitation and deletion code arrive by SMTP; a refused mail is sent later; the address must be verified", async () => {
  const owner = await signUpBefore();
  await verifyEmail(owner);
  const organization = expectData(
    await owner.api.post("/v1/auth/orgs", { name: "Bäckerei & Söhne", slug: "baeckerei" }),
    201,
  );

  const person = await signUpBefore();
  refusing = true;
  expectData(await owner.api.post("/v1/auth/orgs/invitations", { email: person.email, role: "member" }), 201);
  for (const each of [service, second]) await each.runJob("send-mails");
  assert.ok(!received.some((mail) => /\/invitations\//.test(mail.source)));
  refusing = false;
  service.clock.advance(10 * 60_000);
  const token = await mailed(person.email, /http:\/\/localhost:3000\/invitations\/([A-Za-z0-9]{43})/);
  assert.equal(received.filter((mail) => mail.source.includes(token)).length, 1, "sent once");

  expectError(await person.api.post(`/v1/auth/invitations/${token}/accept`), 403, "EMAIL_NOT_VERIFIED");
  await verifyEmail(person);
  assert.equal(expectData(await person.api.post(`/v1/auth/invitations/${token}/accept`)).id, organization.id);

  expectData(await owner.api.post("/v1/auth/orgs/request-delete", { organizationId: organization.id }), 202);
  const code = await mailed(owner.email, /^([A-Z2-9]{8})\r?$/m);
  expectData(await owner.api.post("/v1/auth/orgs/confirm-delete", { organizationId: organization.id, code }));
});
