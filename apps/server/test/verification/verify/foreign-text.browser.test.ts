import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import test from "node:test";
import type { Page } from "playwright-core";
import { sql } from "../../../src/platform/db/sql.ts";
import { html } from "../../../src/platform/mails/mail.ts";
import { createKey, createPartner, expectData } from "../../support/api.ts";
import {
  checkAccessibility,
  isWiderThanScreen,
  keepScreenshot,
  looksAtAll,
  openBrowser,
  openPage,
} from "../../support/browser.ts";
import { button, faults, goInside, heading, openDashboard } from "../../support/dashboard.ts";
import { startDnsServer } from "../../support/dns-server.ts";
import { verifyDomain } from "../../support/domain.ts";
import { startTestService } from "../../support/service.ts";
import { createSession } from "../../support/sessions.ts";

const dns = await startDnsServer();
const service = await startTestService({ env: { DNS_RESOLVERS: dns.address } });
const { url, api, core } = service;
const browser = await openBrowser();

const longWord = "W".repeat(120);
const longUrl = `https://example.com/${"w".repeat(1900)}`;

/** An organization in which every text is one long word. */
async function wordy() {
  const partner = await createPartner(api);
  const { owner } = partner;
  expectData(
    await owner.api.patch("/v1/auth/orgs", {
      name: longWord,
      website_url: longUrl,
      privacy_url: longUrl,
      terms_url: longUrl,
      support_email: `${"w".repeat(60)}@${"w".repeat(60)}.example`,
    }),
  );
  expectData(await owner.api.patch("/v1/auth/account", { name: longWord }));
  expectData(
    await owner.api.post("/v1/auth/orgs/business-details", {
      business_name: longWord,
      business_jurisdiction: longWord,
      business_registration_number: "9".repeat(100),
    }),
  );
  await verifyDomain(owner, dns, `${"w".repeat(60)}.example`);
  await createKey(owner, ["sessions:read"]);
  await core.db.run(
    sql`update api_keys set name = ${longWord} where organization_id = ${partner.organizationId}`,
  );
  const { endpoint } = expectData(
    await owner.api.post("/v1/webhooks/endpoints", { url: longUrl, name: longWord }),
    201,
  );
  expectData(
    await owner.api.post("/v1/auth/orgs/invitations", {
      email: `${"w".repeat(60)}@${"w".repeat(60)}.example`,
      role: "member",
    }),
    201,
  );
  expectData(
    await owner.api.post("/v1/auth/orgs/request-delete", { organizationId: partner.organizationId }),
    202,
  );
  const session = await createSession(partner.api, {
    client_reference_id: longWord,
    metadata: { note: longWord },
    share_fields: { family_name: { required: true, reason: longWord } },
  });
  const paths = [
    ["/dashboard", "Overview"],
    ["/dashboard/sessions", "Sessions"],
    [`/dashboard/sessions/${session}`, longWord],
    ["/dashboard/api-keys", "API keys"],
    ["/dashboard/webhooks", "Webhooks"],
    [`/dashboard/webhooks/${endpoint.id}`, longWord],
    ["/dashboard/deliveries", "Deliveries"],
    ["/dashboard/events", "Events"],
    ["/dashboard/domains", "Domains"],
    ["/dashboard/members", "Members"],
    ["/dashboard/audit-log", "Audit log"],
    ["/dashboard/go-live", "Going live"],
    ["/dashboard/settings", "Settings"],
    ["/dashboard/account", "Your account"],
  ] as const;
  return { partner, session, paths };
}

const furnished = wordy();

/** Whether anything in the open dialog is wider than the dialog itself. */
const dialogOverflows =
  "Array.from(document.querySelectorAll('dialog[open]'), (dialog) => dialog.scrollWidth > dialog.clientWidth).includes(true)";

/** A page is loaded once and checked on both screens: only its styles differ between them. */
const screens = [
  [1440, "light"],
  [320, "dark"],
] as const;

async function onEachScreen(page: Page, name: string, check: (width: number) => Promise<void>) {
  for (const [width, colorScheme] of screens) {
    await page.setViewportSize({ width, height: 900 });
    await page.emulateMedia({ colorScheme });
    // The page adapts to the width in the next frame.
    await page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))");
    await check(width);
    if (looksAtAll) await checkAccessibility(page);
    await keepScreenshot(page, `long-${name}-${width}-${colorScheme}`);
  }
}

test("words without a space fit every page of the dashboard, narrow and wide", async () => {
  const { partner, paths } = await furnished;
  const { page, problems } = await openDashboard(browser, url, { token: partner.owner.token });
  const found: string[] = [];
  await page.goto(url + paths[0][0]);
  for (const [path, title] of paths) {
    await goInside(page, path);
    await heading(page, title);
    await page.getByText("Loading…").first().waitFor({ state: "detached" });
    await onEachScreen(page, title.toLowerCase().replaceAll(" ", "-"), async (width) => {
      if (await isWiderThanScreen(page)) found.push(`${path} scrolls sideways at ${width} px`);
    });
  }
  const checkDialog = (name: string) =>
    onEachScreen(page, name, async (width) => {
      if (await page.evaluate<boolean>(dialogOverflows)) found.push(`${name} overflows at ${width} px`);
    });
  await page.getByRole("button", { name: /Switch organization/ }).click();
  await page.getByRole("dialog").waitFor();
  await checkDialog("organizations");
  await page.keyboard.press("Escape");
  await goInside(page, "/dashboard/api-keys");
  await button(page, `Delete ${longWord}`).first().click();
  await page.getByRole("dialog").waitFor();
  await checkDialog("question");
  assert.deepEqual(found, []);
  assert.deepEqual(faults(problems), []);
  await page.context().close();
});

test("words without a space fit the verify page and every mail, narrow and wide", async () => {
  const { session } = await furnished;
  const { page, problems } = await openPage(browser, url);
  await page.goto(`${url}/verify/${session}`);
  await page.getByRole("heading", { level: 1 }).waitFor();
  await page.getByText("Verified web address").waitFor();
  const checkFits = (name: string, what: string) =>
    onEachScreen(page, name, async (width) =>
      assert.equal(await isWiderThanScreen(page), false, `${what} scrolls sideways at ${width} px`),
    );
  await checkFits("consent", "the verify page");
  assert.deepEqual(problems, []);

  // A mail has its styles in itself, which the policy of our pages forbids.
  await page.goto("about:blank");
  await service.runJob("send-mails");
  const folders = service.dataDirs.map((dataDir) => join(dataDir, "mail")).filter(existsSync);
  const mails = folders.flatMap((folder) =>
    readdirSync(folder).map((name) => readFileSync(join(folder, name), "utf8")),
  );
  // An invitation shortens the names in it.
  assert.ok(mails.filter((mail) => mail.includes(longWord.slice(0, 40))).length >= 2);
  for (const mail of mails) {
    await page.setContent(/<!doctype html>.*<\/html>/s.exec(mail)?.[0] ?? "");
    await checkFits("mail", /^Subject: .*/m.exec(mail)?.[0] ?? "a mail");
  }
  await page.setContent(html({ to: "a@example.com", subject: "s", paragraphs: [longWord + longUrl] }));
  await checkFits("mail-of-one-word", "a mail of one word");
  await page.context().close();
});

async function consentPage(page: Page, set: Record<string, unknown>, domain: string) {
  const partner = await createPartner(api);
  expectData(await partner.owner.api.patch("/v1/auth/orgs", set));
  await verifyDomain(partner.owner, dns, domain);
  const session = await createSession(partner.api);
  const open = async () => {
    await page.goto(`${url}/verify/${session}`);
    await page.getByRole("heading", { level: 1 }).waitFor();
  };
  await open();
  return { partner, open };
}

test("the verified address is never shown as another one, and an honest one in both forms", async () => {
  const { page } = await openPage(browser, url);
  for (const [domain, shown] of [
    ["xn--pple-43d.com", "xn--pple-43d.com"],
    ["xn--80ak6aa92e.com", "xn--80ak6aa92e.com"],
    ["xn--ypal-43d9g.com", "xn--ypal-43d9g.com"],
    ["xn--mnchen-3ya.de", "münchen.de (xn--mnchen-3ya.de)"],
    ["xn--e1afmkfd.xn--p1ai", "пример.рф (xn--e1afmkfd.xn--p1ai)"],
    ["xn--r8jz45g.jp", "例え.jp (xn--r8jz45g.jp)"],
  ] as const) {
    await consentPage(page, { name: "Apple" }, domain);
    const line = page.getByText("Verified web address");
    assert.equal((await line.innerText()).replace(/^✓ /, ""), `Verified web address: ${shown}`);
    await keepScreenshot(page, `verified-${domain}`);
  }
  await page.context().close();
});

test("a stored name or link that turns text around is shown as what it is", async () => {
  const { page } = await openPage(browser, url);
  const { partner, open } = await consentPage(page, { name: "Acme" }, "acme-turned.example");
  await core.db.run(sql`update organizations set
      name = ${"Acme \u202eknab evil"},
      website_url = ${"https://evil.dev/\u202emoc.elppa.www//:sptth"},
      privacy_url = ${"https://www.apple.com\u2215privacy.evil.dev/"},
      support_email = ${"support%40apple.com?bcc=thief%40evil.dev&body=x@evil.dev"}
    where id = ${partner.organizationId}`);
  await open();
  await page.getByRole("heading", { level: 1, name: "Acme knab evil asks you" }).waitFor();
  await page.locator("summary").filter({ hasText: "Who is asking" }).click();
  assert.doesNotMatch(await page.evaluate<string>("document.body.innerText"), /[\u202a-\u202e\u2066-\u2069]/);
  await page.getByRole("link", { name: "evil.dev/moc.elppa.www//:sptth" }).waitFor();
  await page.getByRole("link", { name: "www.apple.xn--comprivacy-9g1f.evil.dev", exact: true }).waitFor();
  const mailto = await page.locator("a[href^='mailto:']").getAttribute("href");
  assert.equal(mailto, "mailto:support%2540apple.com%3Fbcc%3Dthief%2540evil.dev%26body%3Dx@evil.dev");
  const mail = new URL(mailto ?? "");
  assert.equal(mail.search, "", "the address adds fields to the mail");
  await keepScreenshot(page, "turned-text");
  await page.context().close();
});
