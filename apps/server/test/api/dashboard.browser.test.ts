import assert from "node:assert/strict";
import test from "node:test";
import { Secret, TOTP } from "otpauth";
import type { Page } from "playwright-core";
import { type Api, createPartner, expectData, signUp, signUpOwner } from "../support/api.ts";
import {
  checkAccessibility,
  isWiderThanScreen,
  keepScreenshot,
  openBrowser,
  openPage,
} from "../support/browser.ts";
import { latestToken, mailsTo } from "../support/mailed-links.ts";
import { partnerKeys, registration } from "../support/receiver.ts";
import { startTestService } from "../support/service.ts";
import { claimed, createSession, fail, succeed } from "../support/sessions.ts";

const service = await startTestService({
  env: { WEBHOOK_ALLOWED_PRIVATE_HOSTS: "127.0.0.1" },
});
const { url, api, core, runJob } = service;
const browser = await openBrowser();

/** What the browser itself says about an answer with an error is no fault of the page. */
const faults = (problems: readonly string[]) =>
  problems.filter((problem) => !problem.startsWith("console: Failed to load resource"));

async function open(options: { width?: number; colorScheme?: "light" | "dark"; token?: string } = {}) {
  const opened = await openPage(browser, url, options);
  opened.page.setDefaultTimeout(10_000);
  if (options.token !== undefined)
    await opened.page.context().addCookies([{ name: "assay_session", value: options.token, url }]);
  return opened;
}

const heading = (page: Page, name: string) =>
  page.getByRole("heading", { level: 1, name, exact: true }).waitFor();
const button = (page: Page, name: string) => page.getByRole("button", { name, exact: true });

test("somebody signs up, creates an organization and gets an API key that works", async () => {
  const { page, problems } = await open();
  await page.goto(`${url}/dashboard/api-keys`);
  await heading(page, "Sign in");
  await page.getByRole("link", { name: "Create an account" }).click();
  await heading(page, "Create an account");
  await page.getByLabel("Your name").fill("Grace Hopper");
  await page.getByLabel("E-mail").fill("grace@example.com");
  await page.getByLabel("Password", { exact: true }).fill("a ship in port is safe");
  await button(page, "Create account").click();

  await heading(page, "Create your organization");
  await page.getByLabel("Name").fill("Müller & Søn");
  assert.equal(await page.getByLabel("Slug").inputValue(), "muller-s-n");
  await page.getByLabel("Slug").fill("muller");
  await button(page, "Create organization").click();
  await heading(page, "Overview");
  await page.getByText("Sandbox", { exact: true }).waitFor();

  await page.getByRole("link", { name: "API keys", exact: true }).click();
  await heading(page, "API keys");
  await button(page, "Create a key").click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Name").fill("Backend");
  await button(page, "Create key").click();
  await dialog.getByText("only time the key is shown").waitFor();
  const secret = (await dialog.locator("code").textContent()) ?? "";
  expectData(await api.as(secret).get("/v1/sessions"));
  await button(page, "I have kept it").click();
  await page.getByRole("cell", { name: "Backend" }).waitFor();
  assert.equal(await page.getByText(secret).count(), 0, "the secret is still on the page");

  await button(page, "Disable Backend").click();
  await page.getByText("Disabled", { exact: true }).waitFor();
  assert.equal((await api.as(secret).get("/v1/sessions")).status, 401);
  await button(page, "Delete Backend").click();
  await button(page, "Delete the key").click();
  await page.getByText("Your servers call the API with a key.").waitFor();
  assert.deepEqual(faults(problems), []);
  await page.context().close();
});

test("an answer to bad input is told in words, and nothing that was typed is lost", async () => {
  const taken = await signUp(api);
  const { page } = await open();
  await page.goto(`${url}/dashboard/sign-up`);
  await page.getByLabel("Your name").fill("Ada");
  await page.getByLabel("E-mail").fill(taken.email);
  await page.getByLabel("Password", { exact: true }).fill("correct horse battery");
  await button(page, "Create account").click();
  const alert = page.getByRole("alert");
  await alert.waitFor();
  assert.equal(await alert.locator("p").count(), 2, "message and hint");
  assert.equal(await page.getByLabel("Your name").inputValue(), "Ada");
  assert.equal(await page.getByLabel("Password", { exact: true }).inputValue(), "correct horse battery");
  await page.context().close();
});

test("a session that ended in the middle of a form is resumed where it was", async () => {
  const owner = await signUpOwner(api);
  const { page } = await open({ token: owner.token });
  await page.goto(`${url}/dashboard/api-keys`);
  await button(page, "Create a key").click();
  await page.getByRole("dialog").getByLabel("Name").fill("Typed with care");
  expectData(await owner.api.post("/v1/auth/sign-out"), 204);
  await button(page, "Create key").click();
  const again = page.getByRole("dialog", { name: "Sign in again" });
  await again.getByLabel("Password", { exact: true }).fill(owner.password);
  await again.getByRole("button", { name: "Sign in", exact: true }).click();
  await again.waitFor({ state: "detached" });
  assert.equal(await page.getByRole("dialog").getByLabel("Name").inputValue(), "Typed with care");
  await button(page, "Create key").click();
  await page.getByText("only time the key is shown").waitFor();
  await page.context().close();
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
  await page.getByText("admin", { exact: true }).waitFor();
  await keepScreenshot(page, "dashboard-invitation-1440-light");
  await page.getByLabel("Your name").fill("New Person");
  await page.getByLabel("Password", { exact: true }).fill("correct horse battery");
  await button(page, "Create account").click();
  await page.getByRole("button", { name: /^Join Organization/ }).click();
  await heading(page, "Overview");
  const members = expectData<any[]>(await owner.api.get("/v1/auth/orgs/members"));
  assert.ok(members.some((member) => member.email === "new@example.com" && member.role === "admin"));
  assert.deepEqual(faults(problems), []);
  await page.context().close();
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
  await page.context().close();
});

test("a mailed link signs in, and its token leaves the address bar at once", async () => {
  const owner = await signUpOwner(api);
  const { page, problems } = await open();
  await page.goto(`${url}/dashboard/sign-in`);
  await button(page, "Get a link by mail").click();
  await page.getByLabel("E-mail").fill(owner.email);
  await button(page, "Mail me a link").click();
  await page.getByText("a link is on its way").waitFor();
  const token = await latestToken(service, owner.email, "magic-link");
  await page.goto(`${url}/dashboard/magic-link#token=${token}`);
  await heading(page, "Sign in with your link");
  assert.equal(page.url(), `${url}/dashboard/magic-link`);
  await button(page, "Sign in").click();
  await heading(page, "Overview");
  await page.goBack();
  assert.ok(!page.url().includes(token), "the token is in the history");
  assert.deepEqual(faults(problems), []);
  await page.context().close();
});

test("a forgotten password is replaced, and the new one signs in", async () => {
  const owner = await signUpOwner(api);
  const { page } = await open();
  await page.goto(`${url}/dashboard/forgot-password`);
  await page.getByLabel("E-mail").fill(owner.email);
  await button(page, "Mail me a link").click();
  await page.getByText("a link is on its way").waitFor();
  const token = await latestToken(service, owner.email, "reset-password");
  await page.goto(`${url}/dashboard/reset-password#token=${token}`);
  await page.getByLabel("New password", { exact: true }).fill("a quite different phrase");
  await button(page, "Set password").click();
  await page.getByText("The new password is set").waitFor();
  await page.getByRole("link", { name: "Sign in" }).click();
  await page.getByLabel("E-mail").fill(owner.email);
  await page.getByLabel("Password", { exact: true }).fill("a quite different phrase");
  // With the keyboard alone.
  await page.keyboard.press("Enter");
  await heading(page, "Overview");
  await page.context().close();
});

test("the links that verify and change an e-mail ask to sign in first, then work", async () => {
  const owner = await signUpOwner(api);
  expectData(await owner.api.post("/v1/auth/account/email/verification"), 202);
  const { page } = await open();
  await page.goto(
    `${url}/dashboard/verify-email#token=${await latestToken(service, owner.email, "verify-email")}`,
  );
  await page.getByText("Sign in to your account first").waitFor();
  await page.getByLabel("E-mail").fill(owner.email);
  await page.getByLabel("Password", { exact: true }).fill(owner.password);
  await button(page, "Sign in").click();
  await button(page, "Verify the e-mail").click();
  await page.getByText("Your e-mail is verified.").waitFor();

  const next = `changed-${owner.email}`;
  expectData(await owner.api.post("/v1/auth/account/email", { email: next, password: owner.password }), 202);
  await page.goto(`${url}/dashboard/change-email#token=${await latestToken(service, next, "change-email")}`);
  await button(page, "Use this e-mail").click();
  await page.getByText("Your e-mail was changed.").waitFor();
  assert.equal(expectData(await owner.api.get("/v1/auth/account")).email, next);
  await page.context().close();
});

test("the second factor is turned on with the page, and asked for at the next sign-in", async () => {
  const owner = await signUpOwner(api);
  const { page } = await open({ token: owner.token });
  await page.goto(`${url}/dashboard/account`);
  await button(page, "Turn on").click();
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("img", { name: "QR code for the authenticator app" }).waitFor();
  const secret = (await dialog.locator("code").textContent()) ?? "";
  const code = () =>
    new TOTP({ secret: Secret.fromBase32(secret) }).generate({ timestamp: service.clock.now().getTime() });
  await dialog.getByRole("textbox", { name: "Code" }).fill(code());
  await dialog.getByRole("button", { name: "Turn on" }).click();
  const backupCodes = ((await dialog.locator("code").last().textContent()) ?? "").split(" ");
  assert.equal(backupCodes.length, 10);
  await button(page, "I have kept them").click();
  await page.getByText("10 backup codes are left.").waitFor();

  await page.context().clearCookies();
  await page.goto(`${url}/dashboard/sign-in`);
  await page.getByLabel("E-mail").fill(owner.email);
  await page.getByLabel("Password", { exact: true }).fill(owner.password);
  await button(page, "Sign in").click();
  await page.getByLabel("Code").fill(backupCodes[0] ?? "");
  await button(page, "Sign in").click();
  await heading(page, "Overview");
  await page.context().close();
});

test("an endpoint is added, gets a key, is tested; a private key is not sent", async () => {
  const owner = await signUpOwner(api);
  const { page, problems } = await open({ token: owner.token });
  await page.goto(`${url}/dashboard/webhooks`);
  await button(page, "Add an endpoint").click();
  await page.getByLabel("Address").fill("https://127.0.0.1:9/hook");
  await button(page, "Add endpoint").click();
  await page.getByRole("link", { name: "Go to the endpoint" }).click();
  await heading(page, "Webhook endpoint");
  await page.getByText("A webhook endpoint has no active encryption key.").waitFor();

  await button(page, "Register a key").click();
  const requests: string[] = [];
  page.on("request", (request) => {
    if (request.method() === "POST") requests.push(request.postData() ?? "");
  });
  const privateKey = partnerKeys().privateKey.export({ format: "jwk" });
  await page.getByLabel("Public key (JWK)").fill(JSON.stringify({ ...privateKey, kid: "k" }));
  await button(page, "Register key").click();
  await page.getByText("is a private key. It was not sent.").waitFor();
  assert.deepEqual(requests, []);
  await page.getByLabel("Public key (JWK)").fill(JSON.stringify(registration("2026-03").jwk));
  await button(page, "Register key").click();
  await page.getByRole("cell", { name: "2026-03", exact: true }).waitFor();
  await page.getByText("no active encryption key").waitFor({ state: "detached" });

  await button(page, "Send a test event").click();
  await page.getByRole("link", { name: "See how it went" }).click();
  await heading(page, "Delivery");
  await button(page, "Reveal").waitFor({ state: "detached" });
  await page.goBack();
  await button(page, "Reveal").click();
  await page.getByText(/^whsec_/).waitFor();
  assert.deepEqual(faults(problems), []);
  await page.context().close();
});

test("a sandbox session is created with the page, shown as a QR code, and cancelled", async () => {
  const owner = await signUpOwner(api);
  const { page, problems } = await open({ token: owner.token });
  await page.goto(`${url}/dashboard/sessions/new`);
  await page.getByLabel("Your reference").fill("order-1");
  await button(page, "Create session").click();
  await page.getByRole("img", { name: "QR code of the verification link" }).waitFor();
  const [session] = expectData<any[]>(await owner.api.get("/v1/sessions"));
  assert.equal(session.client_reference_id, "order-1");
  assert.deepEqual(session.share_fields.age_over_18.required, true);
  await button(page, "Cancel the session").click();
  // Escape closes the question and gives the focus back.
  await page.keyboard.press("Escape");
  assert.equal(await page.evaluate("document.activeElement.textContent"), "Cancel the session");
  await button(page, "Cancel the session").click();
  await page.getByRole("dialog").getByRole("button", { name: "Cancel the session" }).click();
  await page.getByText("cancelled", { exact: true }).waitFor();
  assert.deepEqual(faults(problems), []);
  await page.context().close();
});

/** An organization in which everything that a page can show is there. */
async function furnish() {
  const partner = await createPartner(api);
  const { owner } = partner;
  const done = await createSession(partner.api, {
    client_reference_id: "order-7391",
    metadata: { channel: "mobile" },
  });
  await succeed(core, done, await claimed(core, done));
  const failed = await createSession(partner.api);
  await fail(core, failed, await claimed(core, failed));
  const waiting = await createSession(partner.api);
  const endpoint = expectData(
    await owner.api.post("/v1/webhooks/endpoints", { url: "https://127.0.0.1:9/hook", name: "Production" }),
    201,
  ).endpoint;
  expectData(
    await owner.api.post(`/v1/webhooks/endpoints/${endpoint.id}/keys`, registration("2026-03")),
    201,
  );
  const sent = expectData(await owner.api.post(`/v1/webhooks/endpoints/${endpoint.id}/test`), 202);
  await runJob("deliver-webhooks");
  expectData(
    await owner.api.post("/v1/webhooks/endpoints", { url: "https://127.0.0.1:9/without-a-key" }),
    201,
  );
  expectData(
    await owner.api.post("/v1/auth/orgs/invitations", { email: "b@example.com", role: "member" }),
    201,
  );
  expectData(
    await owner.api.post("/v1/auth/orgs/domains/challenges/dns", { apex_domain: "example.com" }),
    201,
  );
  return {
    token: owner.token,
    paths: [
      ["overview", "/dashboard", "Overview"],
      ["sessions", "/dashboard/sessions", "Sessions"],
      ["session-open", `/dashboard/sessions/${waiting}`, "Session"],
      ["session-failed", `/dashboard/sessions/${failed}`, "Session"],
      ["session-new", "/dashboard/sessions/new", "Create a session"],
      ["api-keys", "/dashboard/api-keys", "API keys"],
      ["webhooks", "/dashboard/webhooks", "Webhooks"],
      ["endpoint", `/dashboard/webhooks/${endpoint.id}`, "Webhook endpoint"],
      ["deliveries", "/dashboard/deliveries", "Deliveries"],
      ["delivery", `/dashboard/deliveries/${sent.deliveries[0].id}`, "Delivery"],
      ["events", "/dashboard/events", "Events"],
      ["event", `/dashboard/events/${sent.event.id}`, "Event"],
      ["domains", "/dashboard/domains", "Domains"],
      ["members", "/dashboard/members", "Members"],
      ["audit-log", "/dashboard/audit-log", "Audit log"],
      ["go-live", "/dashboard/go-live", "Going live"],
      ["settings", "/dashboard/settings", "Settings"],
      ["account", "/dashboard/account", "Your account"],
      ["organization-new", "/dashboard/organizations/new", "Create an organization"],
      ["not-found", "/dashboard/no/such/page", "There is no such page"],
    ] as const,
  };
}

const publicPaths = [
  ["sign-in", "/dashboard/sign-in", "Sign in"],
  ["sign-up", "/dashboard/sign-up", "Create an account"],
  ["forgot-password", "/dashboard/forgot-password", "Forgot your password?"],
  ["magic-link", "/dashboard/magic-link#token=x", "Sign in with your link"],
  ["reset-password", "/dashboard/reset-password#token=x", "Set a new password"],
  ["invitation-dead", `/invitations/${"x".repeat(43)}`, "Invitation"],
] as const;

const furnished = furnish();

for (const [width, colorScheme] of [
  [320, "dark"],
  [1440, "light"],
] as const) {
  test(`every page at ${width} px, ${colorScheme}: accessible, fits, asks nobody else`, async () => {
    const { token, paths } = await furnished;
    const stranger = await open({ width, colorScheme });
    const staff = await open({ width, colorScheme, token });
    for (const [{ page, problems }, list] of [
      [stranger, publicPaths],
      [staff, paths],
    ] as const) {
      for (const [name, path, title] of list) {
        await page.goto(url + path);
        await heading(page, title);
        await page.getByText("Loading…").first().waitFor({ state: "detached" });
        assert.equal(await isWiderThanScreen(page), false, `${path} scrolls sideways`);
        await checkAccessibility(page).catch((error: Error) => {
          throw new Error(`${path}: ${error.message}`);
        });
        await keepScreenshot(page, `dashboard-${name}-${width}-${colorScheme}`);
      }
      assert.deepEqual(faults(problems), []);
      await page.context().close();
    }
  });
}

test("dialogs and the menu are accessible and fit a narrow screen", async () => {
  const { token } = await furnished;
  const { page, problems } = await open({ width: 320, colorScheme: "dark", token });
  const look = async (name: string) => {
    assert.equal(await isWiderThanScreen(page), false, `${name} scrolls sideways`);
    await checkAccessibility(page);
    await keepScreenshot(page, `dashboard-${name}-320-dark`);
  };
  await page.goto(`${url}/dashboard/api-keys`);
  await button(page, "Create a key").click();
  await look("dialog-key");
  await page.keyboard.press("Escape");
  await button(page, "Menu").click();
  await look("menu");
  await page.getByRole("link", { name: "Members" }).click();
  await heading(page, "Members");
  assert.equal(
    await page.evaluate("document.activeElement.textContent"),
    "Members",
    "focus follows the page",
  );
  await page.getByRole("button", { name: /Switch organization/ }).click();
  await look("organizations");
  assert.deepEqual(faults(problems), []);
  await page.context().close();
});
