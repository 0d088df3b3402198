import assert from "node:assert/strict";
import { createPrivateKey, generateKeyPairSync } from "node:crypto";
import { readFile } from "node:fs/promises";
import test from "node:test";
import { compactDecrypt } from "jose";
import { Secret, TOTP } from "otpauth";
import type { Page } from "playwright-core";
import { sql } from "../../src/platform/db/sql.ts";
import { type Api, createPartner, expectData, signUp, signUpOwner } from "../support/api.ts";
import {
  checkAccessibility,
  isWiderThanScreen,
  keepLooks,
  keepScreenshot,
  openBrowser,
} from "../support/browser.ts";
import { button, dashboardInTurn, faults, heading, openDashboard } from "../support/dashboard.ts";
import { freePort } from "../support/free-port.ts";
import { startMailSink } from "../support/mail-sink.ts";
import { latestToken, mailsTo } from "../support/mailed-links.ts";
import { partnerKeys, startReceiver } from "../support/receiver.ts";
import { startTestService } from "../support/service.ts";
import { claimed, succeed } from "../support/sessions.ts";
import { until } from "../support/until.ts";

const receiver = await startReceiver();
const service = await startTestService({
  env: { WEBHOOK_ALLOWED_PRIVATE_HOSTS: "127.0.0.1" },
  webhooks: { ca: receiver.ca },
});
const { url, api, core } = service;
const browser = await openBrowser();

const open = dashboardInTurn(browser, url);

test("somebody signs up, creates an organization and gets an API key that works", async () => {
  const { page, problems } = await open();
  await page.goto(`${url}/dashboard/api-keys`);
  await heading(page, "Sign in");
  await page.getByRole("link", { name: "Create an account" }).click();
  await heading(page, "Create an account");
  await page.getByLabel("Your name").fill("Grace Hopper");
  await page.getByLabel("Email").fill("grace@example.com");
  await page.getByLabel("Password", { exact: true }).fill("a ship in port is safe");
  await button(page, "Create account").click();

  await heading(page, "Create your organization");
  await page.getByLabel("Name").fill("Müller & Søn");
  assert.equal(await page.getByLabel("Slug").inputValue(), "muller-s-n");
  await page.getByLabel("Slug").fill("muller");
  await button(page, "Create organization").click();
  await heading(page, "Overview");
  await page.getByRole("button", { name: "Sandbox", pressed: true }).waitFor();

  await page.getByRole("link", { name: "API keys", exact: true }).click();
  await heading(page, "API keys");
  await button(page, "Create API key").click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Name").fill("Backend");
  await button(page, "Create key").click();
  await dialog.getByText("The key is shown only once.").waitFor();
  const secret = (await dialog.locator("code").textContent()) ?? "";
  expectData(await api.as(secret).get("/v1/sessions"));
  await button(page, "I've saved it").click();
  await page.getByRole("cell", { name: `Backend ${secret.slice(0, 7)}…`, exact: true }).waitFor();
  assert.equal(await page.getByText(secret).count(), 0, "the secret is still on the page");

  await button(page, "Disable Backend").click();
  await page.getByText("Disabled", { exact: true }).waitFor();
  assert.equal((await api.as(secret).get("/v1/sessions")).status, 401);
  await button(page, "Delete Backend").click();
  await button(page, "Delete key").click();
  await page.getByText("Your servers use API keys to call the API.").waitFor();
  // The focus is not lost: it goes to the heading once the row with its button is gone.
  await page.locator("h1:focus", { hasText: "API keys" }).waitFor();
  assert.deepEqual(faults(problems), []);
});

test("an answer to bad input is told in words, and nothing that was typed is lost", async () => {
  const taken = await signUp(api);
  const { page } = await open();
  await page.goto(`${url}/dashboard/sign-up`);
  await page.getByLabel("Your name").fill("Ada");
  await page.getByLabel("Email").fill(taken.email);
  await page.getByLabel("Password", { exact: true }).fill("correct horse battery");
  await button(page, "Create account").click();
  const alert = page.getByRole("alert");
  await alert.waitFor();
  assert.equal(await alert.locator("p").count(), 2, "message and hint");
  assert.equal(await page.getByLabel("Your name").inputValue(), "Ada");
  assert.equal(await page.getByLabel("Password", { exact: true }).inputValue(), "correct horse battery");
});

test("with a mail server signing up leads to the mailbox, and the link in the mail signs in", async () => {
  const sink = await startMailSink();
  const mailing = await startTestService({ env: { SMTP_URL: sink.url } });
  const { page, problems } = await openDashboard(browser, mailing.url);
  await page.goto(`${mailing.url}/dashboard/sign-up`);
  await page.getByLabel("Your name").fill("Ada");
  await page.getByLabel("Email").fill("ada@example.com");
  await page.getByLabel("Password", { exact: true }).fill("correct horse battery");
  await button(page, "Create account").click();
  await page.getByText("We sent an email to ada@example.com.").waitFor();
  const token = await sink.tokenFor(mailing, "ada@example.com", "verify-email");
  await page.goto(`${mailing.url}/dashboard/verify-email#token=${token}`);
  await page.getByLabel("Email").fill("ada@example.com");
  await page.getByLabel("Password", { exact: true }).fill("correct horse battery");
  await button(page, "Sign in").click();
  await page.getByText("Email verified.").waitFor();
  assert.deepEqual(faults(problems), []);
  await page.context().close();
});

test("where sign-up is closed the page says so instead of showing a form", async () => {
  const closed = await startTestService({ env: { SIGN_UP: "closed" } });
  const { page } = await openDashboard(browser, closed.url);
  await page.goto(`${closed.url}/dashboard/sign-up`);
  await page.getByText("Sign-up is closed.").waitFor();
  assert.equal(await button(page, "Create account").count(), 0);
  await page.context().close();
});

test("a session that ended in the middle of a form is resumed where it was", async () => {
  const owner = await signUpOwner(api);
  const { page } = await open({ token: owner.token });
  await page.goto(`${url}/dashboard/api-keys`);
  await button(page, "Create API key").click();
  await page.getByRole("dialog").getByLabel("Name").fill("Typed with care");
  expectData(await owner.api.post("/v1/auth/sign-out"), 204);
  await button(page, "Create key").click();
  const again = page.getByRole("dialog", { name: "Sign in again" });
  await again.getByLabel("Password", { exact: true }).fill(owner.password);
  await again.getByRole("button", { name: "Sign in", exact: true }).click();
  await again.waitFor({ state: "detached" });
  assert.equal(await page.getByRole("dialog").getByLabel("Name").inputValue(), "Typed with care");
  await button(page, "Create key").click();
  await page.getByText("The key is shown only once.").waitFor();
});

async function invitationLink(owner: { api: Api }, email: string): Promise<string> {
  expectData(await owner.api.post("/v1/auth/orgs/invitations", { email, role: "admin" }), 201);
  const link = /https?:\/\/\S+(\/invitations\/[A-Za-z0-9]{43})/.exec(
    (await mailsTo(service, email))[0]?.text ?? "",
  );
  assert.ok(link?.[1]);
  return url + link[1];
}

test("an invitation is accepted by somebody who has no account yet", async () => {
  const owner = await signUpOwner(api);
  const { page, problems } = await open();
  await page.goto(await invitationLink(owner, "new@example.com"));
  await heading(page, "Invitation");
  await page.getByText("new@example.com").first().waitFor();
  await page.getByText("Admin", { exact: true }).waitFor();
  await checkAccessibility(page, "structure");
  await keepScreenshot(page, "dashboard-invitation-1440-light");
  await page.getByLabel("Your name").fill("New Person");
  await page.getByLabel("Password", { exact: true }).fill("correct horse battery");
  await button(page, "Create account").click();
  await page.getByRole("button", { name: /^Join Organization/ }).click();
  await heading(page, "Overview");
  const members = expectData<any[]>(await owner.api.get("/v1/auth/orgs/members"));
  assert.ok(members.some((member) => member.email === "new@example.com" && member.role === "admin"));
  assert.deepEqual(faults(problems), []);
});

test("an invitation is declined without an account, and a dead link says so", async () => {
  const owner = await signUpOwner(api);
  const link = await invitationLink(owner, "no-thanks@example.com");
  const { page } = await open();
  await page.goto(link);
  await button(page, "Decline").click();
  await page.getByRole("dialog").getByRole("button", { name: "Decline", exact: true }).click();
  await heading(page, "Invitation declined");
  assert.deepEqual(expectData(await owner.api.get("/v1/auth/orgs/invitations")), []);
  await page.goto(link);
  await page.getByRole("alert").waitFor();
});

test("a mailed link signs in, and its token leaves the address bar at once", async () => {
  const owner = await signUpOwner(api);
  const { page, problems } = await open();
  await page.goto(`${url}/dashboard/sign-in`);
  await page.getByLabel("Email").fill(owner.email);
  await button(page, "Email me a sign-in link").click();
  assert.equal(await page.getByLabel("Email").inputValue(), owner.email, "what was typed is kept");
  await button(page, "Email me a link").click();
  await page.getByText("we sent it a link").waitFor();
  const token = await latestToken(service, owner.email, "magic-link");
  await page.goto(`${url}/dashboard/magic-link#token=${token}`);
  await heading(page, "Sign in with your link");
  assert.equal(page.url(), `${url}/dashboard/magic-link`);
  await button(page, "Sign in").click();
  await heading(page, "Overview");
  await page.goBack();
  assert.ok(!page.url().includes(token), "the token is in the history");
  assert.deepEqual(faults(problems), []);
});

test("a forgotten password is replaced, and the new one signs in", async () => {
  const owner = await signUpOwner(api);
  const { page } = await open();
  await page.goto(`${url}/dashboard/forgot-password`);
  await page.getByLabel("Email").fill(owner.email);
  await button(page, "Email me a link").click();
  await page.getByText("we sent it a link").waitFor();
  const token = await latestToken(service, owner.email, "reset-password");
  await page.goto(`${url}/dashboard/reset-password#token=${token}`);
  await page.getByLabel("New password", { exact: true }).fill("a quite different phrase");
  await button(page, "Set password").click();
  await page.getByText("Password changed.").waitFor();
  await page.getByRole("link", { name: "Sign in" }).click();
  await page.getByLabel("Email").fill(owner.email);
  await page.getByLabel("Password", { exact: true }).fill("a quite different phrase");
  // With the keyboard alone.
  await page.keyboard.press("Enter");
  await heading(page, "Overview");
});

test("the links that verify and change an email ask to sign in first, then work", async () => {
  const owner = await signUpOwner(api);
  expectData(await owner.api.post("/v1/auth/account/email/verification"), 202);
  const { page } = await open();
  await page.goto(
    `${url}/dashboard/verify-email#token=${await latestToken(service, owner.email, "verify-email")}`,
  );
  await page.getByText("Sign in to your account first").waitFor();
  await page.getByLabel("Email").fill(owner.email);
  await page.getByLabel("Password", { exact: true }).fill(owner.password);
  await button(page, "Sign in").click();
  await button(page, "Verify email").click();
  await page.getByText("Email verified.").waitFor();

  const next = `changed-${owner.email}`;
  expectData(await owner.api.post("/v1/auth/account/email", { email: next, password: owner.password }), 202);
  await page.goto(`${url}/dashboard/change-email#token=${await latestToken(service, next, "change-email")}`);
  await button(page, "Confirm email").click();
  await page.getByText("Email changed.").waitFor();
  assert.equal(expectData(await owner.api.get("/v1/auth/account")).email, next);
});

test("the second factor is turned on with the page, and asked for at the next sign-in", async () => {
  const owner = await signUpOwner(api);
  const { page } = await open({ token: owner.token });
  await page.goto(`${url}/dashboard/account`);
  await button(page, "Turn on").click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Your password", { exact: true }).fill(owner.password);
  await dialog.getByRole("button", { name: "Continue" }).click();
  await dialog.getByRole("img", { name: "QR code for the authenticator app" }).waitFor();
  const secret = (await dialog.locator("code").textContent()) ?? "";
  const code = () =>
    new TOTP({ secret: Secret.fromBase32(secret) }).generate({ timestamp: service.clock.now().getTime() });
  await dialog.getByRole("textbox", { name: "Code" }).fill(code());
  await dialog.getByRole("button", { name: "Turn on" }).click();
  await page.getByRole("heading", { name: "Your backup codes" }).waitFor();
  const backupCodes = ((await dialog.locator("code").last().textContent()) ?? "").split(" ");
  assert.equal(backupCodes.length, 10);
  await button(page, "I've saved them").click();
  await page.getByText("10 backup codes left.").waitFor();

  await page.context().clearCookies();
  await page.goto(`${url}/dashboard/sign-in`);
  await page.getByLabel("Email").fill(owner.email);
  await page.getByLabel("Password", { exact: true }).fill(owner.password);
  await button(page, "Sign in").click();
  await page.getByLabel("Code").fill(backupCodes[0] ?? "");
  await button(page, "Sign in").click();
  await heading(page, "Overview");
});

/** Everything that a page has sent so far, and what of it could be a private key. */
function watchRequests(page: Page) {
  const sent: string[] = [];
  page.on("request", (request) => {
    sent.push(`${request.url()} ${JSON.stringify(request.headers())} ${request.postData() ?? ""}`);
  });
  return {
    sent,
    secrets: (privateKey: { d?: string; p?: string }) =>
      sent.filter(
        (text) =>
          /PRIVATE KEY|"(d|p|q|dp|dq|qi)\\?":/.test(text) ||
          [privateKey.d, privateKey.p].some((part) => part !== undefined && text.includes(part.slice(0, 40))),
      ),
  };
}

test("from an empty organization to a decrypted event without leaving the page, and the private key does not either", async () => {
  const owner = await signUpOwner(api);
  const { page, problems } = await open({ token: owner.token });
  const requests = watchRequests(page);
  const overview = async (count: string) => {
    await page.getByRole("link", { name: "Overview", exact: true }).click();
    await page.getByText(`${count} of 6 complete`).waitFor();
  };
  await page.goto(`${url}/dashboard`);
  await page.evaluate("document.body.dataset.mark = 'the same page'");
  await page.getByText("0 of 6 complete").waitFor();
  assert.equal(await page.getByRole("region", { name: "As curl" }).count(), 0, "no code without a key");
  await checkAccessibility(page);
  await keepScreenshot(page, "dashboard-getting-started-1440-light");

  await page.getByRole("link", { name: "Choose what it asks for" }).click();
  await heading(page, "Create session");
  await page.getByText("Name and date of birth").click();
  await page.getByRole("radio", { name: "Python" }).check({ force: true });
  await page.getByText('"family_name": {').waitFor();
  await keepScreenshot(page, "dashboard-session-new-preset-1440-light");
  await button(page, "Create session").click();
  await page.getByRole("img", { name: "QR code of the verification link" }).waitFor();
  const [session] = expectData<any[]>(await owner.api.get("/v1/sessions"));
  assert.deepEqual(Object.keys(session.share_fields).sort(), [
    "date_of_birth",
    "family_name",
    "given_names",
    "service_document_id",
  ]);
  await succeed(core, session.id, await claimed(core, session.id));
  await overview("2");
  await page.getByRole("link", { name: "Create a key", exact: true }).click();
  await button(page, "Create API key").click();
  await page.getByRole("dialog").getByLabel("Name").fill("Backend");
  await button(page, "Create key").click();
  await button(page, "I've saved it").click();

  await overview("3");
  await page.getByText("Create an API key").click();
  const [{ key_prefix: prefix }] = expectData<any>(await owner.api.get("/v1/auth/api-keys"));
  await page.getByText(`export ASSAY_API_KEY='${prefix}…'`).waitFor();
  await page.getByRole("region", { name: "As curl" }).waitFor();
  await keepLooks(page, "dashboard-getting-started-key");
  await page.getByRole("link", { name: "Add an endpoint" }).click();
  await button(page, "Add endpoint").first().click();
  await page.getByLabel("URL").fill("https://localhost:4443/hook");
  await button(page, "Add").click();
  await page.getByText("cannot be reached from here").waitFor();
  await page.getByLabel("URL").fill(receiver.url);
  await button(page, "Add").click();
  await page.getByRole("dialog").getByRole("link", { name: "Register key" }).click();
  await button(page, "Register key").click();
  await checkAccessibility(page, "structure");
  await button(page, "Generate key pair").click();
  await button(page, "Save as PEM").waitFor();
  assert.equal(await button(page, "Register public key").count(), 0, "not before it is saved");
  const download = page.waitForEvent("download");
  await button(page, "Save as PEM").click();
  const pem = await readFile(await (await download).path(), "utf8");
  await keepScreenshot(page, "dashboard-key-made-1440-light");
  await button(page, "Register public key").click();
  await page.getByRole("cell", { name: "Active", exact: true }).waitFor();

  await page.getByRole("link", { name: "Send test event" }).click();
  await page.getByLabel("Event type").selectOption("verification.session.succeeded");
  await button(page, "Send event").click();
  await page.getByText("Your server returned 200").waitFor();
  const opened = page.getByRole("region", { name: "Decrypted payload" });
  await opened.getByText("ERIKSSON").first().waitFor();
  await checkAccessibility(page);
  await button(page, "Overview").click();
  await page.getByRole("cell", { name: "Delivered", exact: true }).waitFor();
  await keepScreenshot(page, "dashboard-test-event-1440-light");
  await overview("5");
  await page.getByRole("heading", { name: "Getting started" }).click();
  await page.getByText("You decrypted one in this browser.").waitFor();
  assert.equal(await page.evaluate("document.body.dataset.mark"), "the same page");

  const made = createPrivateKey(pem);
  const { plaintext } = await compactDecrypt(receiver.received.at(-1)?.body ?? "", made);
  assert.match(Buffer.from(plaintext).toString(), /ERIKSSON/, "the file opens what the server received");
  assert.deepEqual(requests.secrets(made.export({ format: "jwk" })), []);
  const stored = await page.evaluate<string>(
    "JSON.stringify([localStorage, sessionStorage, document.cookie])",
  );
  assert.deepEqual(
    Object.keys(JSON.parse(stored)[0]).map((key) => key.replace(/[0-9a-f-]{36}$/, "ID")),
    ["assay.organization", "assay.opened-event.ID"],
  );
  assert.deepEqual(faults(problems), []);
});

test("a delivery that was refused shows headers, the answer and the tries, and opens with a key from a file", async () => {
  const owner = await signUpOwner(api);
  receiver.answerWith((_received, response) => {
    response.writeHead(500).end("boom: database is down");
    return null;
  });
  const { endpoint } = expectData(await owner.api.post("/v1/webhooks/endpoints", { url: receiver.url }), 201);
  const { page, problems } = await open({ token: owner.token });
  const requests = watchRequests(page);
  await page.goto(`${url}/dashboard/webhooks/${endpoint.id}`);
  await page.getByText("A webhook endpoint has no active encryption key.").waitFor();

  // A private key in the wrong place is reduced to its public half before anything is sent.
  const { privateKey } = partnerKeys();
  const jwk = privateKey.export({ format: "jwk" });
  await button(page, "Register key").click();
  await page.getByText("Use my own key").click();
  await page.getByRole("textbox", { name: "Public key" }).fill("nonsense");
  await button(page, "Register").click();
  await page.getByText("This is not a key.").waitFor();
  await page.getByRole("textbox", { name: "Public key" }).fill(JSON.stringify({ ...jwk, kid: "2026-03" }));
  await button(page, "Register").click();
  await page.getByText("Only its public part was sent").waitFor();
  await page.getByRole("dialog").getByRole("button", { name: "Close", exact: true }).last().click();
  await page.getByRole("cell", { name: "2026-03", exact: true }).waitFor();
  await page.getByText("no active encryption key").waitFor({ state: "detached" });

  await page.getByRole("link", { name: "Send test event" }).click();
  await button(page, "Send event").click();
  await page.getByText("Your server returned an error status.").waitFor();
  await page.getByText("boom: database is down").waitFor();
  await page.getByRole("link", { name: "View delivery" }).click();
  await heading(page, "Test event");
  await page.getByText("500 Internal Server Error").first().waitFor();
  await page.getByText("x-service-signature").first().waitFor();
  await page.getByRole("region", { name: "Response body" }).first().waitFor();

  const other = generateKeyPairSync("rsa", { modulusLength: 2048 }).privateKey;
  await page.getByLabel("Private key").fill(String(other.export({ format: "pem", type: "pkcs8" })));
  await button(page, "Decrypt here").click();
  await page.getByText("does not fit: the body is encrypted to the key named “2026-03”").waitFor();
  const buffer = Buffer.from(privateKey.export({ format: "pem", type: "pkcs1" }));
  await page
    .getByLabel("Or choose a file")
    .setInputFiles({ name: "key.pem", mimeType: "application/x-pem-file", buffer });
  await button(page, "Decrypt here").click();
  await page.getByRole("region", { name: "Decrypted payload" }).getByText(endpoint.id).waitFor();
  await page.setViewportSize({ width: 320, height: 900 });
  await page.emulateMedia({ colorScheme: "dark" });
  assert.equal(await isWiderThanScreen(page), false);
  await checkAccessibility(page, "structure");
  await keepScreenshot(page, "dashboard-delivery-opened-320-dark");
  assert.deepEqual(requests.secrets(jwk), []);

  receiver.answerWith(() => ({ status: 200 }));
  await button(page, "Retry now").click();
  await page.getByText("Deleted when your server accepted it.").waitFor();
  await page.getByText("Decrypt a body that your server received").click();
  await page.getByLabel("Encrypted body").fill(receiver.received.at(-1)?.body ?? "");
  await page.getByRole("region", { name: "Decrypted payload" }).getByText(endpoint.id).waitFor();
  await page.getByRole("link", { name: receiver.url }).click();
  await button(page, "Reveal").click();
  await page.getByText(/^whsec_/).waitFor();

  // Deliveries missed in an outage are retried by their time.
  const missed = receiver.received.length;
  receiver.answerWith(() => ({ status: 500 }));
  expectData(await owner.api.post(`/v1/webhooks/endpoints/${endpoint.id}/test`), 202);
  await until("it was refused", () => receiver.received.length > missed);
  await core.db.run(sql`delete from webhook_delivery_queue where endpoint_id = ${endpoint.id}`);
  await core.db.run(sql`
    update webhook_deliveries set status = 'failed', failed = true
    where endpoint_id = ${endpoint.id} and payload is not null`);
  receiver.answerWith(() => ({ status: 200 }));
  const retry = async (from: string, to: string) => {
    await button(page, "More actions").click();
    await button(page, "Retry failed deliveries…").click();
    await page.getByLabel("From").fill(from);
    await page.getByLabel("To", { exact: true }).fill(to);
    await button(page, "Retry").click();
  };
  await retry("2020-01-01T00:00", "2020-01-02T00:00");
  await page.getByText("No failed delivery in this period can be retried.").waitFor();
  const day = (by: number) =>
    new Date(core.clock.now().getTime() + by * 86_400_000).toISOString().slice(0, 16);
  await retry(day(-1), day(1));
  await page.getByText("Retrying 1 delivery.").waitFor();
  await until("it was sent again", () => receiver.received.length > missed + 1);
  assert.deepEqual(faults(problems), []);
});

test("a sandbox session is created with the page, shown as a QR code, and cancelled", async () => {
  const owner = await signUpOwner(api);
  const { page, problems } = await open({ token: owner.token });
  await page.goto(`${url}/dashboard/sessions/new`);
  await page.getByLabel("Reference").fill("order-1");
  await button(page, "Create session").click();
  await page.getByRole("img", { name: "QR code of the verification link" }).waitFor();
  const [session] = expectData<any[]>(await owner.api.get("/v1/sessions"));
  assert.equal(session.client_reference_id, "order-1");
  assert.deepEqual(session.share_fields.age_over_18.required, true);
  await heading(page, "order-1");
  // Escape closes the menu, then the question, and gives the focus back each time.
  await button(page, "More actions").click();
  await page.keyboard.press("Tab");
  await page.keyboard.press("Escape");
  assert.equal(await button(page, "Cancel session").count(), 0);
  for (const closed of ["the menu", "the question"]) {
    assert.equal(await page.evaluate("document.activeElement.textContent"), "More actions", closed);
    await button(page, "More actions").click();
    await button(page, "Cancel session").click();
    if (closed === "the menu") await page.keyboard.press("Escape");
  }
  await page.getByRole("dialog").getByRole("button", { name: "Cancel session" }).click();
  await page.getByText("Cancelled", { exact: true }).first().waitFor();
  assert.deepEqual(faults(problems), []);
});

test("a tab notices that another one switched the organization", async () => {
  const owner = await signUpOwner(api);
  expectData(await owner.api.post("/v1/auth/orgs", { name: "Second", slug: "second-of-two" }), 201);
  const { page } = await open({ token: owner.token });
  await page.goto(`${url}/dashboard/settings`);
  // A page that still loads when the other one switches simply shows the new organization.
  await page.getByRole("button", { name: /Switch organization/ }).waitFor();
  const other = await page.context().newPage();
  await other.goto(`${url}/dashboard`);
  await other.getByRole("button", { name: /Switch organization/ }).click();
  const choice = other.getByRole("dialog").locator("button[aria-current=false]");
  const name = (await choice.locator("bdi").textContent()) ?? "";
  await choice.click();
  await button(page, `Continue in ${name}`).click();
  await heading(page, "Overview");
  await page.getByRole("button", { name: new RegExp(`^${name}`) }).waitFor();
});

test("a passkey is added and signs in", async () => {
  const port = await freePort();
  const origin = `http://localhost:${port}`;
  // A passkey needs a host name, which the load balancer lacks. The port is that of one machine.
  const local = await startTestService({ machines: 1, env: { PORT: String(port), PUBLIC_URL: origin } });
  const owner = await signUpOwner(local.api);
  const { page, problems } = await openDashboard(browser, origin, { token: owner.token });
  const devtools = await page.context().newCDPSession(page);
  await devtools.send("WebAuthn.enable");
  await devtools.send("WebAuthn.addVirtualAuthenticator", {
    options: {
      protocol: "ctap2",
      transport: "internal",
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  });
  await page.goto(`${origin}/dashboard/account`);
  await button(page, "Add passkey").click();
  await page.getByRole("dialog").getByLabel("Name").fill("Work laptop");
  await button(page, "Create passkey").click();
  // An open session alone is not enough: the field is required.
  assert.equal(await page.getByRole("cell", { name: "Work laptop", exact: true }).count(), 0);
  await page.getByRole("dialog").getByLabel("Your password", { exact: true }).fill(owner.password);
  await button(page, "Create passkey").click();
  await page.getByRole("cell", { name: "Work laptop", exact: true }).waitFor();
  await page.context().clearCookies();
  await page.goto(`${origin}/dashboard/account`);
  await heading(page, "Sign in");
  await button(page, "Sign in with a passkey").click();
  await heading(page, "Your account");
  assert.deepEqual(faults(problems), []);
  await page.context().close();
});

test("an organization is scheduled for deletion with the mailed code, says so on every page, and is kept after all", async () => {
  const owner = await signUpOwner(api);
  const { page, problems } = await open({ token: owner.token });
  await page.goto(`${url}/dashboard/settings`);
  await button(page, "Email me a deletion code").click();
  await page.getByLabel("Code from the email").waitFor();
  const code = /^\s*([A-Z0-9]{8})\s*$/m.exec((await mailsTo(service, owner.email)).at(-1)?.text ?? "")?.[1];
  assert.ok(code, "no code was mailed");
  await page.getByLabel("Code from the email").fill("AAAAAAAA");
  await page.getByRole("button", { name: /^Delete Organization/ }).click();
  await page.getByRole("alert").waitFor();
  assert.equal(
    await page.getByLabel("Code from the email").getAttribute("aria-invalid"),
    "true",
    "the field that the message names is marked",
  );
  await page.getByLabel("Code from the email").fill(code.toLowerCase());
  await page.getByRole("button", { name: /^Delete Organization/ }).click();
  await page.getByText("This organization will be deleted").waitFor();
  await page.getByRole("link", { name: "API keys", exact: true }).click();
  await heading(page, "API keys");
  assert.equal(await button(page, "Create API key").count(), 0, "what would be refused is not offered");
  await page.getByRole("link", { name: "Cancel deletion" }).click();
  await button(page, "Cancel deletion").click();
  await page.getByText("This organization will be deleted").waitFor({ state: "detached" });
  assert.deepEqual(faults(problems), []);
});

test("the audit log is filtered, and grows page by page", async () => {
  const owner = await signUpOwner(api);
  for (let number = 0; number < 30; number += 1)
    expectData(await owner.api.post("/v1/auth/api-keys", { name: `Key ${number}`, scopes: [] }), 201);
  const { page, problems } = await open({ token: owner.token });
  await page.goto(`${url}/dashboard/audit-log`);
  const rows = page.getByRole("table").locator("tbody tr");
  await rows.nth(24).waitFor();
  assert.equal(await rows.count(), 25);
  await button(page, "Show more").click();
  await rows.nth(30).waitFor();
  assert.equal(await button(page, "Show more").count(), 0);
  await page.getByLabel("Event").selectOption("organization.created");
  await rows.nth(1).waitFor({ state: "detached" });
  assert.match(
    (await rows.first().textContent()) ?? "",
    /Ada Lovelace created the organization “Organization/,
  );
  assert.match(page.url(), /\?event=organization\.created$/);
  const download = page.waitForEvent("download");
  await button(page, "Export").click();
  const csv = await readFile(await (await download).path(), "utf8");
  assert.match(csv, /^\ufeff"time","environment","by",.*\r\n.*,"both","Ada Lovelace","user",/);
  assert.equal(csv.trim().split("\r\n").length, 2, "what the filters leave, and no more");
  assert.deepEqual(faults(problems), []);
});

test("the API log is reached from a key and from the palette, and finds a request by its id", async () => {
  const { owner, key, api: partner } = await createPartner(api);
  expectData(await partner.get("/v1/sessions"));
  const wrong = await partner.get("/v1/sessions/none");
  const requestId = wrong.headers.get("x-request-id") ?? "";
  const { page, problems } = await open({ token: owner.token });
  await page.goto(`${url}/dashboard/api-keys`);
  await page.getByRole("link", { name: "API log of test key" }).click();
  await heading(page, "API log");
  assert.ok(page.url().endsWith(`?key=${key.id}`), page.url());
  const rows = page.getByRole("table").locator("tbody tr");
  await rows.nth(1).waitFor();
  assert.equal(await rows.count(), 2);
  await page.getByLabel("Request ID").fill(requestId);
  await rows.nth(1).waitFor({ state: "detached" });
  assert.match((await rows.first().textContent()) ?? "", /GET \/v1\/sessions\/none.*400.*INVALID_SESSION_ID/);
  await button(page, "Clear").click();
  await rows.nth(1).waitFor();
  await page.getByLabel("Status").selectOption("2xx");
  await rows.nth(1).waitFor({ state: "detached" });
  await page.getByText("requests a second to each server process").waitFor();

  await page.keyboard.press("Control+k");
  await page.getByRole("searchbox", { name: "Search, or go to a page" }).fill(requestId);
  await page.getByRole("menuitem", { name: /GET \/v1\/sessions\/none 400/ }).click();
  await heading(page, "API log");
  assert.ok(page.url().endsWith(`?request=${requestId}`), page.url());
  await rows.first().waitFor();
  assert.equal(await rows.count(), 1);
  assert.deepEqual(faults(problems), []);
});

test("a member sees what a member may do, and is told in words what not", async () => {
  const owner = await signUpOwner(api);
  const member = await signUp(api, "Mem Ber");
  expectData(await owner.api.post("/v1/auth/orgs/invitations", { email: member.email, role: "member" }), 201);
  const token = /\/invitations\/([A-Za-z0-9]{43})/.exec(
    (await mailsTo(service, member.email)).at(-1)?.text ?? "",
  )?.[1];
  expectData(await member.api.post(`/v1/auth/invitations/${token}/accept`));
  const { page } = await open({ token: member.token });
  await page.goto(`${url}/dashboard/webhooks`);
  await heading(page, "Webhooks");
  await page.getByText("signed and encrypted to your key").waitFor();
  assert.equal(await button(page, "Add endpoint").count(), 0);
  assert.equal(await page.getByRole("link", { name: "API keys", exact: true }).count(), 0);
  await page.goto(`${url}/dashboard/api-keys`);
  await page.getByText("This needs the role admin; your role is member.").waitFor();
});
