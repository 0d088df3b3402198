import assert from "node:assert/strict";
import { test } from "node:test";
import { sql } from "../../../src/platform/db/sql.ts";
import { dayMs } from "../../../src/platform/kernel/clock.ts";
import { type Api, expectData, expectError, signUp, signUpOwner } from "../../support/api.ts";
import { untilBlocked } from "../../support/database.ts";
import { readMails } from "../../support/mails.ts";
import { startTestService } from "../../support/service.ts";

const service = await startTestService({
  config: { invitationsPerDay: 12, invitationsPerRecipient: 3 },
});
const { api, core, clock } = service;

type Person = Awaited<ReturnType<typeof signUp>>;

const invite = (by: { api: Api }, email: string, role: string) =>
  by.api.post("/v1/auth/orgs/invitations", { email, role });

async function invitationMail(to: string) {
  const mail = (await readMails(service, to)).findLast((received) => /Invitation/.test(received.subject));
  assert.ok(mail, "an invitation was mailed");
  return mail;
}

async function tokenOf(to: string): Promise<string> {
  return /\/invitations\/([A-Za-z0-9]{43})\s/.exec((await invitationMail(to)).text)?.[1] ?? "";
}

async function join(owner: { api: Api }, role: string) {
  const person = await signUp(api);
  expectData(await invite(owner, person.email, role), 201);
  expectData(await person.api.post(`/v1/auth/invitations/${await tokenOf(person.email)}/accept`));
  const members = expectData<{ id: string; user_id: string }[]>(await owner.api.get("/v1/auth/orgs/members"));
  return { ...person, memberId: members.find((member) => member.user_id === person.userId)?.id ?? "" };
}

/** A user whom `sender` invited and who has not answered yet. */
async function guestOf(sender: { api: Api }, role: string) {
  const guest = await signUp(api);
  expectData(await invite(sender, guest.email, role), 201);
  const token = await tokenOf(guest.email);
  return { ...guest, accept: () => guest.api.post(`/v1/auth/invitations/${token}/accept`) };
}

async function revokedBecause(boss: { api: Api }) {
  const entries = expectData(await boss.api.get("/v1/auth/orgs/audit-logs", { event: "invitation.revoked" }));
  return entries.map((entry: { details: object }) => entry.details);
}

const ways: Record<
  string,
  (boss: Person, bad: Person & { memberId: string }) => Promise<{ status: number }>
> = {
  "is removed by an owner": (boss, bad) => boss.api.delete(`/v1/auth/orgs/members/${bad.memberId}`),
  leaves: (_boss, bad) => bad.api.post("/v1/auth/orgs/leave"),
  "is demoted to member": (boss, bad) =>
    boss.api.patch(`/v1/auth/orgs/members/${bad.memberId}`, { role: "member" }),
  "deletes the account": (_boss, bad) => bad.api.post("/v1/auth/account/delete", { password: bad.password }),
};
for (const [way, lose] of Object.entries(ways))
  test(`an owner who ${way} does not come back through an invitation of theirs`, async () => {
    const boss = await signUpOwner(api);
    const bad = await join(boss, "owner");
    const [second, third] = [await guestOf(bad, "owner"), await guestOf(bad, "member")];
    const other = await guestOf(boss, "admin");
    assert.ok((await lose(boss, bad)).status < 300);
    expectError(await second.accept(), 404, "NOT_FOUND");
    expectError(await third.accept(), 404, "NOT_FOUND");
    expectData(await other.accept());
    assert.deepEqual(
      new Set(await revokedBecause(boss)),
      new Set([
        { role: "member", reason: "sender_lost_right" },
        { role: "owner", reason: "sender_lost_right" },
      ]),
    );
  });

test("an owner who becomes an admin keeps the invitations that an admin may send", async () => {
  const boss = await signUpOwner(api);
  const demoted = await join(boss, "owner");
  const [owner, admin] = [await guestOf(demoted, "owner"), await guestOf(demoted, "admin")];
  expectData(await boss.api.patch(`/v1/auth/orgs/members/${demoted.memberId}`, { role: "admin" }));
  expectError(await owner.accept(), 404, "NOT_FOUND");
  expectData(await admin.accept());
  assert.deepEqual(await revokedBecause(boss), [{ role: "owner", reason: "sender_lost_right" }]);
});

test("what an invitation is worth is decided by the role that its sender has now", async () => {
  const boss = await signUpOwner(api);
  const bad = await join(boss, "owner");
  const guest = await guestOf(bad, "owner");
  // As an earlier version left it: the sender lost the role, the invitation stayed.
  await core.db.run(sql`update memberships set role = 'admin' where user_id = ${bad.userId}`);
  expectError(await guest.accept(), 404, "NOT_FOUND");
  await core.db.run(sql`update memberships set role = 'owner' where user_id = ${bad.userId}`);
  await core.db.run(
    sql`update invitations set invited_by = null where organization_id = ${boss.organizationId}`,
  );
  expectError(await guest.accept(), 404, "NOT_FOUND");
  await core.db.run(
    sql`update invitations set invited_by = ${bad.userId} where organization_id = ${boss.organizationId}`,
  );
  expectData(await guest.accept());
});

test("an invitation that is accepted while its sender is being removed is refused", async () => {
  const boss = await signUpOwner(api);
  const bad = await join(boss, "owner");
  const guest = await guestOf(bad, "owner");
  const { accepting } = await core.db.transaction(async (tx) => {
    await tx.run(sql`select from organizations where id = ${boss.organizationId} for no key update`);
    const accepting = guest.accept();
    await untilBlocked(core.db);
    await tx.run(sql`delete from memberships where user_id = ${bad.userId}`);
    return { accepting };
  });
  expectError(await accepting, 404, "NOT_FOUND");
});

test("an invitation to a spelling that an earlier release treated as different has to be revoked before the next", async () => {
  const owner = await signUpOwner(api);
  const earlier = expectData(await invite(owner, "spelled@example.com", "member"), 201);
  await core.db.run(sql`update invitations set email_folded = null where id = ${earlier.id}`);
  expectError(await invite(owner, "spelled@example.com", "member"), 409, "INVITATION_EXISTS");
  assert.equal((await owner.api.delete(`/v1/auth/orgs/invitations/${earlier.id}`)).status, 204);
  expectData(await invite(owner, "spelled@example.com", "member"), 201);
});

test("an address that is none by today's rules is compared letter by letter", async () => {
  const boss = await signUpOwner(api);
  const guest = await guestOf(boss, "member");
  const invitedAs = (email: string) =>
    core.db.run(sql`update invitations set email = ${email} where organization_id = ${boss.organizationId}`);
  await invitedAs("no address");
  expectError(await guest.accept(), 403, "INVITATION_FOR_ANOTHER_EMAIL");
  await core.db.run(sql`update users set email = 'no address' where id = ${guest.userId}`);
  expectData(await guest.accept());
});

test("one address gets a limited number of invitations a day, from all senders and in any spelling", async () => {
  const [one, two] = [await signUpOwner(api), await signUpOwner(api)];
  expectData(await invite(one, "victim@example.com", "member"), 201);
  expectData(await invite(one, "VICTIM@example.com", "member"), 201);
  expectData(await invite(two, "victim@EXAMPLE.com", "member"), 201);
  for (const sender of [one, two]) {
    const refused = await invite(sender, "Victim@example.com", "member");
    expectError(refused, 409, "CONFLICT", /`email`/);
    assert.match(refused.body.error?.hint ?? "", /gets 3 a day/);
  }
  assert.equal((await readMails(service)).filter(({ to }) => /^victim@example/i.test(to)).length, 3);
  expectData(await invite(two, "somebody-else@example.com", "member"), 201);
  clock.advance(dayMs);
  expectData(await invite(two, "victim@example.com", "member"), 201);
});

test("one organization sends so many invitations a day, and what is refused is not counted", async () => {
  const owner = await signUpOwner(api);
  expectError(
    await invite(owner, owner.email, "member"),
    409,
    "ALREADY_MEMBER",
    /already the address of a member/,
  );
  const answers = await Promise.all(
    Array.from({ length: 15 }, (_, i) => invite(owner, `many-${i}@example.com`, "member")),
  );
  assert.equal(answers.filter((answer) => answer.status === 201).length, 12);
  const refused = await invite(owner, "one-more@example.com", "member");
  expectError(refused, 409, "CONFLICT", /by this organization/);
  assert.match(refused.body.error?.hint ?? "", /send 12 a day/);
  expectData(await invite(await signUpOwner(api), "one-more@example.com", "member"), 201);
  clock.advance(dayMs);
  expectData(await invite(owner, "one-more@example.com", "member"), 201);
});

test("one person sends so many invitations a day, in all their organizations together", async () => {
  const owner = await signUpOwner(api);
  for (let each = 0; each < 12; each++)
    expectData(await invite(owner, `of-one-${each}@example.com`, "member"), 201);
  expectData(await owner.api.post("/v1/auth/orgs", { name: "Another", slug: "another-sender" }), 201);
  const refused = await invite(owner, "of-another@example.com", "member");
  expectError(refused, 409, "CONFLICT", /by you/);
  assert.match(refused.body.error?.hint ?? "", /send 12, in all their organizations together, a day/);
  clock.advance(dayMs);
  expectData(await invite(owner, "of-another@example.com", "member"), 201);
});

test("names in an invitation are short and in quotes", async () => {
  const owner = await signUpOwner(api);
  const name = `Your "account" is blocked \u202e${"call us ".repeat(9)}`;
  // As an earlier version let it in: today such a name is refused.
  await core.db.run(sql`update organizations set name = ${name} where id = ${owner.organizationId}`);
  expectData(await owner.api.patch("/v1/auth/account", { name: `${"Support ".repeat(14)}` }));
  expectData(await invite(owner, "quoted@example.com", "member"), 201);
  const [mail] = await readMails(service, "quoted@example.com");
  assert.ok(mail);
  const subject = Buffer.from(/^=\?UTF-8\?B\?(.*)\?=$/.exec(mail.subject)?.[1] ?? "", "base64").toString();
  assert.equal(subject, `Invitation to "Your 'account' is blocked ${"call us ".repeat(9).slice(0, 33)}…"`);
  assert.match(mail.text, /^"Support Support .{30,60}…" \(user-/m);
  assert.ok(!mail.text.includes("\u202e"));
});
