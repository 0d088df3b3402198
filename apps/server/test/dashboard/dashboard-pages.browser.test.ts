import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import test from "node:test";
import { setTimeout } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import type { UserId } from "@assay/contract/ids";
import type { Page } from "playwright-core";
import { grantOperator, revokeOperator } from "../../src/operations/operator/operator.store.ts";
import { sql } from "../../src/platform/db/sql.ts";
import { knownId } from "../../src/platform/kernel/ids.ts";
import { saveProcess } from "../../src/platform/key-ring/ring-state.store.ts";
import { buildVersion } from "../../src/platform/lib/process-metrics.ts";
import { createPartner, expectData } from "../support/api.ts";
import {
  checkAccessibility,
  isWiderThanScreen,
  keepLooks,
  keepScreenshot,
  keepsScreenshots,
  keptLooks,
  looksAtAll,
  openBrowser,
  openPage,
} from "../support/browser.ts";
import { createAuthority } from "../support/certificate.ts";
import { button, dashboardInTurn, faults, goInside, heading, openDashboard } from "../support/dashboard.ts";
import { openLive, withLiveKey } from "../support/live.ts";
import { drawPng } from "../support/pictures.ts";
import { registration, startReceiver } from "../support/receiver.ts";
import { checkPicture } from "../support/same-picture.ts";
import { startTestService } from "../support/service.ts";
import { claimed, createSession, fail, succeed } from "../support/sessions.ts";
import { trustTestCountry } from "../support/verify-device.ts";

const authority = createAuthority();
const service = await startTestService({
  env: { WEBHOOK_ALLOWED_PRIVATE_HOSTS: "127.0.0.1" },
  webhooks: { ca: authority.certificate },
});
const { url, api, core, runJob } = service;
const browser = await openBrowser();
const open = dashboardInTurn(browser, url);

/** An organization with everything that a page can show. */
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
  const shareFields = { age_over_18: { required: true, reason: "We may only serve adults." } };
  const template = expectData(
    await owner.api.post("/v1/templates", { name: "Age check", share_fields: shareFields }),
    201,
  );
  await core.db.run(sql`
    insert into session_days (organization_id, day, sandbox, shard, succeeded, failed, expired, cancelled, failure_codes, seconds_buckets, stages)
    select ${partner.organizationId}, date '2026-02-28' - back, true, 0, 14 + 9 * back % 7, 3 + back % 3, 2, 1,
      '{"liveness_failed": 2, "document_expired": 1}', jsonb_build_object((85 + back)::text, 9, '118', 5),
      '{"created": 1, "opened": 2, "chip_read": 2, "face_captured": 1, "succeeded": 14}'
    from generate_series(0, 27) back where back % 6 <> 5`);
  return {
    token: owner.token,
    failed,
    paths: [
      ["overview", "/dashboard", "Overview"],
      ["sessions", "/dashboard/sessions", "Sessions"],
      ["session-open", `/dashboard/sessions/${waiting}`, "Verification"],
      ["session-failed", `/dashboard/sessions/${failed}`, "Verification"],
      ["session-new", "/dashboard/sessions/new", "Create session"],
      ["templates", "/dashboard/templates", "Templates"],
      ["template", `/dashboard/templates/${template.id}`, "Age check"],
      ["template-new", "/dashboard/templates/new", "Create template"],
      ["api-keys", "/dashboard/api-keys", "API keys"],
      ["api-log", "/dashboard/api-log", "API log"],
      ["webhooks", "/dashboard/webhooks", "Webhooks"],
      ["endpoint", `/dashboard/webhooks/${endpoint.id}`, "Production"],
      ["deliveries", "/dashboard/deliveries", "Deliveries"],
      ["delivery", `/dashboard/deliveries/${sent.deliveries[0].id}`, "Test event"],
      ["events", "/dashboard/events", "Events"],
      ["event", `/dashboard/events/${sent.event.id}`, "Test event"],
      ["domains", "/dashboard/domains", "Domains"],
      ["members", "/dashboard/members", "Members"],
      ["audit-log", "/dashboard/audit-log", "Audit log"],
      ["go-live", "/dashboard/go-live", "Going live"],
      ["settings", "/dashboard/settings", "Settings"],
      ["account", "/dashboard/account", "Your account"],
      ["organization-new", "/dashboard/organizations/new", "Create organization"],
      ["not-found", "/dashboard/no/such/page", "Page not found"],
    ] as const,
  };
}

type Look = readonly [width: number, scheme: "light" | "dark" | "forced"];

/** For `npm run screens`. */
const extraLooks: readonly Look[] = [
  [1440, "dark"],
  [1440, "forced"],
  [390, "light"],
  [390, "dark"],
  [320, "light"],
];

async function setLook(page: Page, [width, scheme]: Look): Promise<void> {
  await page.setViewportSize({ width, height: 900 });
  await page.emulateMedia({
    colorScheme: scheme === "dark" ? "dark" : "light",
    forcedColors: scheme === "forced" ? "active" : "none",
  });
}

/** A wide page has parts that a narrow one lacks; the colours of both are the same. */
const partAt = (width: number) => (looksAtAll ? "all" : width === 1440 ? "structure" : "contrast");

/**
 * These pages have every component of the dashboard in every state with a colour, so the contrast of the
 * others is proven with theirs. The colours of both schemes are tested in `packages/ui`.
 */
const richest = new Set(["overview", "session-failed", "session-new", "endpoint", "go-live", "account"]);

/** Nothing on these differs from run to run but a few letters of identifiers. */
const compared = new Set(["sign-in", "overview", "sessions", "session-new"]);
/** The same with forced colours on a narrow screen: a list and a detail page. */
const comparedForced = new Set(["sessions", "session-failed"]);
/** Forced colours widen a border at most, so the pages with every component and a list stand for the others. */
const drawnForced = new Set([...richest, ...comparedForced]);

const publicPaths = [
  ["sign-in", "/dashboard/sign-in", "Sign in"],
  ["sign-up", "/dashboard/sign-up", "Create an account"],
  ["forgot-password", "/dashboard/forgot-password", "Forgot your password?"],
  ["magic-link", "/dashboard/magic-link#token=x", "Sign in with your link"],
  ["reset-password", "/dashboard/reset-password#token=x", "Set a new password"],
  ["invitation-dead", `/invitations/${"x".repeat(43)}`, "Invitation"],
] as const;

const furnished = furnish();

/** The colours of the main button, and the width of the logo. */
const paintedScript = `(({ backgroundColor, color }) => [
  backgroundColor,
  color,
  document.querySelector("header img")?.naturalWidth ?? null,
])(getComputedStyle(document.querySelector("form [type=submit]")))`;

/** Polls, because a message or a picture takes effect a moment later. */
async function untilEqual(look: () => Promise<unknown>, expected: unknown): Promise<void> {
  for (const deadline = Date.now() + 100_000; Date.now() < deadline; ) {
    if (isDeepStrictEqual(await look(), expected)) return;
    await setTimeout(50);
  }
  assert.deepEqual(await look(), expected);
}

test("every page, wide and light, then narrow, dark and with forced colours: accessible, fits, asks nobody else", async () => {
  const { token, paths } = await furnished;
  const looks: readonly [Look, ...Look[]] = [
    [1440, "light"],
    ...(keepsScreenshots ? extraLooks : []),
    [320, "dark"],
    [320, "forced"],
  ];
  const stranger = await openDashboard(browser, url, { width: 1440, colorScheme: "light" });
  const staff = await openDashboard(browser, url, { width: 1440, colorScheme: "light", token });
  const found: string[] = [];
  for (const [{ page, problems }, list] of [
    [stranger, publicPaths],
    [staff, paths],
  ] as const) {
    await page.goto(url + list[0][1]);
    for (const [name, path, title] of list) {
      // A link of a mail is followed to a page that is loaded, and takes its token from there.
      if (path.includes("#")) await page.goto(url + path);
      else await goInside(page, path);
      await heading(page, title);
      await page.getByText("Loading…").first().waitFor({ state: "detached" });
      for (const look of looks) {
        const [width, scheme] = look;
        if (scheme === "forced" && !keepsScreenshots && !looksAtAll && !drawnForced.has(name)) continue;
        await setLook(page, look);
        if (extraLooks.includes(look)) {
          await keepScreenshot(page, `dashboard-${name}-${width}-${scheme}`);
          continue;
        }
        if (await isWiderThanScreen(page)) found.push(`${path} scrolls sideways at ${width} px`);
        if (scheme === "forced") {
          if (comparedForced.has(name)) await checkPicture(page, `dashboard-${name}-forced`);
          await keepScreenshot(page, `dashboard-${name}-${width}-${scheme}`);
          // Lines of a table that was drawn with forced colours keep them in this browser, so the next page is
          // drawn without.
          await setLook(page, looks[0]);
          continue;
        }
        if (looksAtAll || width === 1440 || richest.has(name))
          await checkAccessibility(page, partAt(width)).catch((error: Error) =>
            found.push(`${path}, ${width} px, ${scheme}: ${error.message}`),
          );
        if (compared.has(name) && width === 1440 && scheme === "light")
          await checkPicture(page, `dashboard-${name}`);
        await keepScreenshot(page, `dashboard-${name}-${width}-${scheme}`);
      }
    }
    found.push(...faults(problems));
    await page.context().close();
  }
  assert.deepEqual(found, []);
});

test("in German every page fits a narrow screen, and shows no place of a text that was not filled", async () => {
  const { token, paths } = await furnished;
  const stranger = await openDashboard(browser, url, { width: 320, locale: "de-DE" });
  const staff = await openDashboard(browser, url, { width: 320, locale: "de-DE", token });
  const found: string[] = [];
  for (const [{ page, problems }, list] of [
    [stranger, publicPaths],
    [staff, paths],
  ] as const) {
    await page.goto(url + list[0][1]);
    await page.getByRole("heading", { level: 1 }).waitFor();
    for (const [name, path] of list) {
      // Which page loads which words is tested in `first-words.test.ts`, so one document can show them all.
      // It stays only where the next page has a heading of its own, by which one sees that it came.
      if (path.includes("#") || name === "session-failed") await page.goto(url + path);
      else if (path !== list[0][1]) {
        await page.evaluate("document.querySelector('h1').dataset.left = ''");
        await goInside(page, path);
      }
      await page.locator("h1:not([data-left])").waitFor();
      await page.getByText("Wird geladen …").first().waitFor({ state: "detached" });
      const shown = await page.evaluate<string>("document.body.outerHTML");
      found.push(...[...shown.matchAll(/\{[a-z]\w*\}/gi)].map(([place]) => `${path}: ${place}`));
      if (await isWiderThanScreen(page)) found.push(`${path} scrolls sideways`);
      await keepScreenshot(page, `dashboard-german-${name}-320`);
    }
    found.push(...faults(problems));
    await page.context().close();
  }
  assert.deepEqual(found, []);
});

test("a preview whose place is not measured and that was told no look yet makes no page wider than its screen, and cannot be operated", async () => {
  const { token } = await furnished;
  const { page } = await openDashboard(browser, url, { width: 320, token });
  await page.addInitScript("window.ResizeObserver = class { observe() {} unobserve() {} disconnect() {} }");
  await page.addInitScript(
    "addEventListener('message', (event) => event.data?.type === 'assay:look' && event.stopImmediatePropagation())",
  );
  await page.goto(`${url}/dashboard/settings`);
  await page.locator("iframe").waitFor();
  assert.equal(await isWiderThanScreen(page), false);
  const preview = page.frameLocator("iframe[title^=Preview]");
  await preview.getByText("Preview", { exact: true }).waitFor();
  assert.equal(await preview.locator("form").count(), 0);
  await checkAccessibility(page, "structure");
  await page.context().close();
});

test("sessions without a reference are told apart; filters are in the address, take effect as they are chosen, and are still there on the way back", async () => {
  const { token, failed } = await furnished;
  const { page, problems } = await open({ token });
  await page.goto(`${url}/dashboard/sessions`);
  const rows = page.getByRole("table").locator("tbody tr");
  await rows.nth(2).waitFor();
  const names = await rows.getByRole("link").allTextContents();
  assert.equal(names.length, 3);
  assert.equal(new Set(names).size, names.length, names.join(", "));
  await page.getByRole("button", { name: "Failed 1" }).click();
  await rows.nth(1).waitFor({ state: "detached" });
  assert.equal(page.url(), `${url}/dashboard/sessions?status=failed`);
  await rows.getByRole("link").click();
  await heading(page, "Verification");
  assert.ok(page.url().endsWith(failed));
  await page.goBack();
  await rows.first().waitFor();
  assert.deepEqual([page.url(), await rows.count()], [`${url}/dashboard/sessions?status=failed`, 1]);
  await button(page, "Clear").click();
  await rows.nth(2).waitFor();
  // A reference of digits stays what was typed, and a range of days is chosen in the calendar.
  await page.getByLabel("Reference starts with").fill("order-7391");
  await rows.nth(1).waitFor({ state: "detached" });
  assert.equal(page.url(), `${url}/dashboard/sessions?reference=order-7391`);
  await page.getByRole("button", { name: /^Created:/ }).click();
  await page.getByRole("dialog", { name: "Created" }).waitFor();
  await checkAccessibility(page);
  await keepLooks(page, "dashboard-days");
  await button(page, "Last 7 days").click();
  await page.getByText("No results.").waitFor();
  assert.match(page.url(), /&from=\d{4}-\d\d-\d\d&to=\d{4}-\d\d-\d\d$/);
  assert.deepEqual(faults(problems), []);
});

test("the search finds by keyboard, charts are gone through with the arrows, and a lost network is said", async () => {
  const { token, failed } = await furnished;
  const { page, problems } = await open({ token });
  await page.goto(`${url}/dashboard`);
  const chart = page.getByRole("group", { name: /sessions from .* by status/ });
  await chart.focus();
  await page.keyboard.press("End");
  await page.keyboard.press("ArrowLeft");
  await page.getByText("Sat, 28 Feb 2026").waitFor();
  await chart.scrollIntoViewIfNeeded();
  await keepLooks(page, "dashboard-charts");
  await page.getByText("Median delivery time").or(page.getByText("Retrying").first()).waitFor();

  await page.keyboard.press("Control+k");
  const palette = page.getByRole("dialog", { name: "Search" });
  await palette.getByRole("searchbox").fill("order-7391");
  await palette.getByRole("menuitem", { name: /order-7391/ }).waitFor();
  await checkAccessibility(page, "structure");
  await keepLooks(page, "dashboard-palette");
  await palette.getByRole("searchbox").fill(failed);
  await palette.getByRole("menuitem", { name: /^Session vs_/ }).waitFor();
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  await heading(page, "Verification");
  assert.ok(page.url().endsWith(failed));
  await page.keyboard.press("Control+k");
  await palette.getByRole("searchbox").fill("domai");
  await palette.getByRole("menuitem", { name: "Domains" }).waitFor();
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  await heading(page, "Domains");
  await button(page, "View record of example.com").click();
  await page.getByText(/^service-verification=/).waitFor();
  const mail = await page.getByRole("link", { name: /Email it/ }).getAttribute("href");
  assert.match(
    decodeURIComponent(mail ?? ""),
    /^mailto:\?.*Value: service-verification=[A-Za-z0-9]{43}\r\n/s,
  );
  await page.keyboard.press("Escape");

  await page.context().setOffline(true);
  await page.getByText("You are offline.").waitFor();
  await page.context().setOffline(false);
  await page.getByText("You are offline.").waitFor({ state: "detached" });
  assert.deepEqual(faults(problems), []);
});

/** Languages that browsers report in containers and with manual settings. Intl refuses them. */
const refusedLanguages = ["en-US@posix", "C", "C.UTF-8", "de_DE", "", "x-foo"];
/** Two that are refused, which stand for all, and one that is not. */
const oddLanguages = ["en-US@posix", "", "th-TH-u-nu-thai"];

test("the overview draws its chart in a browser of any language, however it is written", async () => {
  const { token } = await furnished;
  const { page, problems } = await openDashboard(browser, url, { token });
  await page.addInitScript(
    `const language = new URLSearchParams(location.search).get("language");
      for (const [name, value] of Object.entries({ language, languages: [language] }))
        Object.defineProperty(Navigator.prototype, name, { get: () => value, configurable: true });`,
  );
  for (const language of refusedLanguages)
    assert.throws(() => Intl.getCanonicalLocales(language), RangeError);
  for (const language of oddLanguages) {
    await page.goto(`${url}/dashboard?${new URLSearchParams({ language })}`);
    await heading(page, "Overview");
    const chart = page.getByRole("group", { name: /sessions from .* by status/ });
    await chart.locator("canvas").waitFor();
    assert.deepEqual(faults(problems), [], language);
  }
  await page.context().close();
});

test("a chart that cannot be fetched or drawn leaves the rest of its page, and says where the figures are", async () => {
  const { token } = await furnished;
  const breakages = [
    (page: Page) => page.route(/\/assets\/plot-.*\.js/, (route) => route.abort()),
    (page: Page) => page.addInitScript("delete globalThis.ResizeObserver"),
  ];
  for (const breakChart of breakages) {
    const { page } = await openDashboard(browser, url, { token });
    await breakChart(page);
    await page.goto(`${url}/dashboard`);
    await page.getByText("The chart could not be drawn. The table has the same figures.").first().waitFor();
    await heading(page, "Overview");
    await page.getByText("Show as a table").first().click();
    await page.getByRole("cell", { name: "14" }).first().waitFor();
    await page.context().close();
  }
});

test("the look is tried on the person's own page in a frame, and people see it once it is saved; white on yellow never happens", async () => {
  await furnished;
  const partner = await createPartner(api);
  await core.db.run(sql`
    insert into verified_domains (id, organization_id, apex_domain, token_hash, verified_at, next_check_at)
    values (gen_random_uuid(), ${partner.organizationId}, 'look.example', '', ${core.clock.now()}, ${core.clock.now()})`);
  const logoHost = await startReceiver(authority);
  logoHost.answerWith((_received, response) => {
    response.writeHead(200).end(drawPng(30, 30));
    return null;
  });
  const logoUrl = `https://127.0.0.1:${logoHost.port}/logo.png`;
  expectData(await partner.owner.api.patch("/v1/auth/orgs", { logo_url: logoUrl }));
  const session = await createSession(partner.api);
  const { page, problems } = await open({ token: partner.owner.token });
  await page.goto(`${url}/dashboard/settings`);
  const preview = page.frameLocator("iframe[title^=Preview]");
  await preview.getByText("Preview", { exact: true }).waitFor();
  await preview.getByText("look.example").waitFor();
  const frame = page.frame({ url: /preview$/ }) ?? assert.fail("there is no frame");
  const painted = (within: Pick<Page, "evaluate">) => within.evaluate<unknown>(paintedScript);
  const before = ["rgb(31, 77, 58)", "rgb(255, 255, 255)", 30];
  await untilEqual(() => painted(frame), before);
  await page.getByRole("textbox", { name: /^Color/ }).fill("#ffee00");
  await page
    .locator("input[type=file]")
    .setInputFiles({ name: "logo.png", mimeType: "image/png", buffer: drawPng(40, 20) });
  const yellow = ["rgb(255, 238, 0)", "rgb(0, 0, 0)", 40];
  await untilEqual(() => painted(frame), yellow);
  await page.getByText("Dark", { exact: true }).click();
  await untilEqual(
    () => frame.evaluate("getComputedStyle(document.body).backgroundColor"),
    "rgb(16, 21, 18)",
  );
  assert.deepEqual(await painted(frame), yellow);
  await page.getByText("Desktop", { exact: true }).click();
  assert.equal(await frame.evaluate("innerWidth"), 1280);
  assert.equal(await isWiderThanScreen(page), false);
  await page.locator("iframe").scrollIntoViewIfNeeded();
  await keepLooks(page, "dashboard-look");

  // Tried is not saved.
  const person = await openPage(browser, url);
  await person.page.goto(`${url}/verify/${session}`);
  await button(person.page, "Agree and continue").waitFor();
  await untilEqual(() => painted(person.page), before);
  const card = page.locator("section").filter({ has: page.getByRole("heading", { name: "Branding" }) });
  await card.getByRole("button", { name: "Save", exact: true }).click();
  await page.getByText("Branding saved.").waitFor();
  // Another person, whose browser has no cached logo.
  const next = await openPage(browser, url);
  await next.page.goto(`${url}/verify/${session}`);
  await button(next.page, "Agree and continue").waitFor();
  await untilEqual(() => painted(next.page), yellow);

  // Opened directly, or messaged by a page that does not frame it, it shows no session.
  await person.page.goto(`${url}/verify/preview?name=Evil#Evil`);
  await person.page.getByText("It is no verification.").waitFor();
  await person.page.evaluate(
    `postMessage({ type: "assay:look", name: "Evil", domain: null, colour: null, logo: null, scheme: "light" })`,
  );
  await person.page.evaluate("new Promise((done) => setTimeout(done))");
  assert.equal(await person.page.getByText("Evil").count(), 0);
  assert.deepEqual([...faults(problems), ...person.problems, ...next.problems], []);
  await next.page.context().close();
  await person.page.context().close();
});

test("dialogs and the menu are accessible and fit a narrow screen", async () => {
  const { token, paths } = await furnished;
  const { page, problems } = await openDashboard(browser, url, { width: 320, colorScheme: "dark", token });
  const look = async (name: string, part: "all" | "structure" = "structure") => {
    assert.equal(await isWiderThanScreen(page), false, `${name} scrolls sideways`);
    await checkAccessibility(page, looksAtAll ? "all" : part);
    await keepScreenshot(page, `dashboard-${name}-320-dark`);
  };
  await page.goto(`${url}/dashboard/api-keys`);
  await button(page, "Create API key").click();
  await look("dialog-key");
  await page.keyboard.press("Escape");
  await goInside(page, paths.find(([name]) => name === "endpoint")?.[1] ?? "");
  await button(page, "Register key").click();
  await button(page, "Generate key pair").click();
  await button(page, "Save as JWK").click();
  await look("dialog-encryption-key", "all");
  await page.getByText("Use my own key").click();
  await look("dialog-own-key");
  await page.keyboard.press("Escape");
  await button(page, "Menu").click();
  await look("menu", "all");
  await page.getByRole("link", { name: "Members" }).click();
  await heading(page, "Members");
  // Focus follows the page.
  await page.waitForFunction("document.activeElement.textContent === 'Members'");
  assert.equal(
    await page.evaluate(
      "(({ clientWidth, scrollWidth }) => scrollWidth <= clientWidth)(document.querySelector('header button bdi'))",
    ),
    true,
    "the name of the organization is there to be read",
  );
  await page.getByRole("button", { name: /Switch organization/ }).click();
  await look("organizations");
  assert.deepEqual(faults(problems), []);
  await page.context().close();
});

/** What opens a dialog, by page, without those that the test before checks. */
const dialogs = [
  ["api-keys", "Create API key"],
  ["api-keys", /^Edit /],
  ["api-keys", /^Delete /],
  ["webhooks", "Add endpoint"],
  ["endpoint", "Edit", "in the menu"],
  ["endpoint", /^Retry failed/, "in the menu"],
  ["endpoint", "Delete", "in the menu"],
  ["endpoint", /^Deactivate /],
  ["domains", "Verify domain"],
  ["domains", "View record of example.com"],
  ["members", "Invite member"],
  ["members", /^Change role/],
  ["members", /^Leave/],
  ["members", /^Revoke the invitation/],
  ["session-open", /^Cancel/, "in the menu"],
  ["go-live", /^Read and accept|Read the terms/],
  ["account", "Change email"],
  ["account", "Turn on"],
  ["account", "Add passkey"],
] as const satisfies readonly (readonly [page: string, opener: string | RegExp, place?: "in the menu"])[];

// Takes a minute, so only with ASSAY_EVERY_PAGE=1 or for `npm run screens`.
if (looksAtAll || keepsScreenshots)
  test("every dialog is accessible and fits, wide and narrow, in both schemes", async () => {
    const { token, paths } = await furnished;
    const { page, problems } = await openDashboard(browser, url, { width: 1440, token });
    await page.goto(`${url}/dashboard`);
    const found: string[] = [];
    for (const [index, [on, opener, place]] of dialogs.entries()) {
      const path = paths.find(([name]) => name === on)?.[1] ?? assert.fail(on);
      await goInside(page, path);
      await page.getByText("Loading…").first().waitFor({ state: "detached" });
      if (place === "in the menu") await button(page, "More actions").click();
      await page.getByRole("button", { name: opener, exact: true }).first().click();
      await page.getByRole("dialog").waitFor();
      for (const [width, colorScheme] of looksAtAll ? ([...keptLooks, [320, "dark"]] as const) : []) {
        await page.setViewportSize({ width, height: 900 });
        await page.emulateMedia({ colorScheme });
        const what = `${on}, ${String(opener)}, ${width} px, ${colorScheme}`;
        if (await isWiderThanScreen(page)) found.push(`${what} scrolls sideways`);
        await checkAccessibility(page).catch((error: Error) => found.push(`${what}: ${error.message}`));
      }
      await page.setViewportSize({ width: 1440, height: 900 });
      await keepLooks(page, `dashboard-dialog-${index + 10}-${on}`);
      await page.keyboard.press("Escape");
    }
    assert.deepEqual([...found, ...faults(problems)], []);
    await page.context().close();
  });

test("the list for going live says what only the operator can do, until that is done, and takes polling in place of an endpoint", async () => {
  const { token } = await furnished;
  const { page } = await open({ token });
  const step = (name: string) => page.getByRole("listitem").filter({ hasText: name });
  const trusted = step("Trust at least one issuing authority");
  await page.goto(`${url}/dashboard/go-live`);
  await trusted.getByText("Missing").waitFor();
  await trusted.getByText("Only the operator can do this").waitFor();
  await step("Configure a document reader").getByText("Done").waitFor();
  const results = step("Set up a live endpoint");
  await results.getByText("Missing").waitFor();
  await results.getByText("By polling").click();
  await results.getByText("Not needed").waitFor();
  assert.equal(await button(page, "Add live endpoint").count(), 0);
  await results.getByText("By webhook").click();
  await step("Live sessions only return people")
    .getByRole("link", { name: "Verify a domain", exact: true })
    .waitFor();
  await trustTestCountry(service);
  await page.reload();
  await trusted.getByText("Done").waitFor();
  assert.equal(await trusted.getByText("Only the operator can do this").count(), 0);
});

test("a live endpoint with its key is set up on the page for going live, before anybody can switch to live", async () => {
  const { owner } = await createPartner(api);
  const { page, problems } = await open({ token: owner.token });
  await page.goto(`${url}/dashboard/go-live`);
  await button(page, "Add live endpoint").click();
  await page.getByLabel("URL").fill("https://127.0.0.1:9/live-hook");
  await keepLooks(page, "dashboard-go-live-endpoint");
  await button(page, "Add").click();
  await page.getByText("Verify the signature").waitFor();
  await page.getByRole("dialog").getByRole("button", { name: "Register key" }).click();
  await button(page, "Generate key pair").click();
  await button(page, "Save as PEM").click();
  await button(page, "Register public key").click();
  const results = page.getByRole("listitem").filter({ hasText: "Set up a live endpoint" });
  await results.getByText("Done").waitFor();
  const listed = expectData<{ url: string; has_active_key: boolean }[]>(
    await owner.api.in("live").get("/v1/webhooks/endpoints"),
  );
  assert.deepEqual(
    listed.map((each) => [each.url, each.has_active_key]),
    [["https://127.0.0.1:9/live-hook", true]],
  );
  assert.equal(expectData<unknown[]>(await owner.api.get("/v1/webhooks/endpoints")).length, 0);
  assert.deepEqual(faults(problems), []);
});

test("every page says which environment it is in, and switching shows what is in the other one, also after a reload", async () => {
  const partner = await createPartner(api);
  const { owner } = partner;
  const { page, problems } = await open({ token: owner.token });
  // The colours are those of the same pages in the sandbox, which are checked with every page.
  const look = async (name: string) => {
    for (const [width, colorScheme] of [
      [1440, "light"],
      ...(keepsScreenshots ? extraLooks : []),
      [320, "dark"],
    ] as const) {
      await setLook(page, [width, colorScheme]);
      assert.equal(await isWiderThanScreen(page), false, `${name} scrolls sideways at ${width} px`);
      if (looksAtAll || width === 1440) await checkAccessibility(page, partAt(width));
      await keepScreenshot(page, `environment-${name}-${width}-${colorScheme}`);
    }
    await setLook(page, [1440, "light"]);
  };
  const here = page.getByRole("group", { name: "Environment" });
  const pressed = (name: string) => here.getByRole("button", { name, pressed: true }).waitFor();
  const testSession = await createSession(partner.api, { client_reference_id: "only-a-test" });
  await page.goto(`${url}/dashboard/sessions`);
  await pressed("Sandbox");
  // Live is not open, so the word leads to what it needs.
  await here.getByRole("link", { name: /Live/ }).click();
  await heading(page, "Going live");

  await openLive(core, partner.organizationId);
  const live = await withLiveKey(partner);
  await createSession(live.api, { client_reference_id: "for-real" });
  // Without a choice, live is shown.
  await page.goto(`${url}/dashboard/sessions`);
  await pressed("Live");
  await page.getByText("for-real").waitFor();
  assert.equal(await page.getByText("only-a-test").count(), 0);
  await look("sessions-live");
  await here.getByRole("button", { name: "Sandbox" }).click();
  await page.getByText("only-a-test").waitFor();
  assert.equal(await page.getByText("for-real").count(), 0);
  await pressed("Sandbox");
  await page.reload();
  await pressed("Sandbox");

  // A single thing does not exist in the other environment; its list does.
  await goInside(page, `/dashboard/sessions/${testSession}`);
  await heading(page, "only-a-test");
  await pressed("Sandbox");
  await here.getByRole("button", { name: "Live" }).click();
  await page.getByText("for-real").waitFor();

  await goInside(page, "/dashboard/api-keys");
  await pressed("Live");
  await button(page, "Create API key").click();
  await look("key");
  await page.getByLabel("Name").fill("Test server");
  await page.getByLabel("Environment").selectOption("sandbox");
  await button(page, "Create key").click();
  await page.getByText("so it is not in the current list").waitFor();
  await button(page, "I've saved it").click();
  assert.equal(await page.getByText("Test server").count(), 0);
  const keysOf = async (caller: typeof owner.api) =>
    expectData<{ name: string }[]>(await caller.get("/v1/auth/api-keys")).map((key) => key.name);
  assert.ok((await keysOf(owner.api)).includes("Test server"));
  assert.ok(!(await keysOf(owner.api.in("live"))).includes("Test server"));

  // A link of a mail leads to the environment that the mail is about.
  await page.goto(`${url}/dashboard/webhooks?environment=sandbox`);
  await pressed("Sandbox");
  await page.goto(`${url}/dashboard/sessions?environment=live`);
  await page.getByText("for-real").waitFor();
  await goInside(page, "/dashboard/go-live");
  await page.getByText("is live. Your sandbox is unchanged.").waitFor();
  await look("live-is-open");
  assert.deepEqual(faults(problems), []);
});

test("the operator's page is there for who is marked, looks again by itself, and is gone when the mark is taken back", async () => {
  const { token: staff } = await furnished;
  const { owner } = await createPartner(api);
  const userId = knownId<UserId>(owner.userId);
  await grantOperator(core.db, userId, core.clock.now());
  await core.db.run(sql`
    insert into set_aside_rows (job, kind, row_id, reason, first_at, last_at, tries, retry_at)
    values ('purge-sessions', 'sessions', 'vs_1', '23503, constraint attempts_session_id_fkey, table sessions', ${core.clock.now()}, ${core.clock.now()}, 1, ${new Date("2026-03-02T00:00:00Z")})`);
  await runJob("report-process");
  await saveProcess(core.db, {
    loaded: [],
    sealsWith: "1",
    id: randomUUID(),
    name: "process 7 on elsewhere",
    self: { role: "api", version: buildVersion(), codeVersion: 90, startedAt: core.clock.now() },
    seenAt: core.clock.now(),
    report: { problem: null, isOverloaded: false, face: null, jobs: [] },
  });
  const { page, problems } = await open({ token: owner.token });
  await page.goto(`${url}/dashboard`);
  const entry = page.getByRole("link", { name: "Operator", exact: true });
  await entry.click();
  await heading(page, "Operator");
  await page.getByText(/^\d+ issues?$/).waitFor();
  await page.getByText("Jobs have quarantined rows").waitFor();
  await page.getByText("process 7 on elsewhere").waitFor();
  await page.getByRole("table", { name: /^Organizations/ }).waitFor();
  await page.getByText(/jobs? on time/).click();
  for (const [width, colorScheme] of [
    [1440, "light"],
    ...(keepsScreenshots ? extraLooks : []),
    ...(keepsScreenshots ? [] : ([[320, "light"]] as const)),
    [320, "dark"],
  ] as const) {
    await setLook(page, [width, colorScheme]);
    assert.equal(await isWiderThanScreen(page), false, `scrolls sideways at ${width} px`);
    if (colorScheme === "dark" || width === 1440) await checkAccessibility(page, partAt(width));
    await keepScreenshot(page, `dashboard-operator-${width}-${colorScheme}`);
  }
  await core.db.run(sql`delete from set_aside_rows`);
  await revokeOperator(core.db, userId, core.clock.now());
  await heading(page, "Page not found");
  await page.setViewportSize({ width: 1440, height: 900 });
  await entry.waitFor({ state: "detached" });
  assert.deepEqual(faults(problems), []);

  const other = await openDashboard(browser, url, { width: 1440, token: staff });
  await other.page.goto(`${url}/dashboard/operator`);
  await heading(other.page, "Page not found");
  assert.equal(await other.page.getByRole("link", { name: "Operator", exact: true }).count(), 0);
  await other.page.context().close();
});
