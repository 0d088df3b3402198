import assert from "node:assert/strict";
import test from "node:test";
import type { Page } from "playwright-core";
import { createPartner, expectData } from "../../support/api.ts";
import {
  checkAccessibility,
  isWiderThanScreen,
  keepScreenshot,
  looksAtAll,
  openBrowser,
  openPage,
} from "../../support/browser.ts";
import { createLivePartner } from "../../support/live.ts";
import { startTestService } from "../../support/service.ts";
import { until } from "../../support/until.ts";
import { agree, heading, readTestPassport } from "../../support/verify-page.ts";

const digest = `${"AB:".repeat(31)}CD`;
const androidInstall = "https://verify.example.org/app";
const iosInstall = "https://apps.apple.com/app/id1234567890";
const android = `package=org.example.verify,sha256=${digest},install=${androidInstall}`;

const service = await startTestService({
  role: "api",
  env: {
    READER_APP_ANDROID: android,
    READER_APP_IOS: `app=ABCDE12345.org.example.verify,install=${iosInstall}`,
  },
});
/** The same installation, but without an app for iPhones. */
const androidOnly = await startTestService({
  role: "api",
  databaseUrl: service.databaseUrl,
  env: { READER_APP_ANDROID: android },
});
const browser = await openBrowser();
const partner = await createPartner(service.api);
const live = await createLivePartner(service.core, service.api);
await live.owner.api.patch("/v1/auth/orgs", { name: "Quiet Bank", support_email: "help@quiet.example" });

type Created = { id: string; verification_url: string };
const createSession = async (by = live): Promise<Created> =>
  expectData(await by.api.post("/v1/sessions"), 201);

type Device = Parameters<typeof openPage>[2];

async function openPerson(address: string, device: Device = {}) {
  const { page, problems } = await openPage(browser, new URL(address).origin, device);
  page.setDefaultTimeout(30_000);
  await page.goto(address);
  return { page, problems };
}

/** They have the parts that no other screen of the page has, so only they are checked for contrast. */
const contrastScreens = new Set(["android-app", "offline"]);

/** As the person sees it, and at the narrowest: it fits, is accessible, and is kept to be looked at. */
async function look(page: Page, name: string): Promise<void> {
  await keepScreenshot(page, `phone-${name}-390-light`);
  await page.emulateMedia({ colorScheme: "dark" });
  await keepScreenshot(page, `phone-${name}-390-dark`);
  await page.setViewportSize({ width: 320, height: 1400 });
  assert.equal(await isWiderThanScreen(page), false, `${name} scrolls sideways at 320 px`);
  await checkAccessibility(page, looksAtAll || contrastScreens.has(name) ? "all" : "structure");
  await keepScreenshot(page, `phone-${name}-320-dark`);
  await page.emulateMedia({ colorScheme: "light" });
  await page.setViewportSize({ width: 390, height: 844 });
}

const code = (page: Page) => page.getByRole("img", { name: "QR code" });
const openInApp = (page: Page) => page.getByRole("link", { name: "Continue in the app" });
const otherDevice = (page: Page) => page.getByRole("button", { name: "Use another device" });
const hrefOf = async (link: ReturnType<typeof openInApp>) => (await link.getAttribute("href")) ?? "";

/** What is seen does not move while the page loads (cumulative layout shift). */
async function checkMovedLittle(page: Page): Promise<void> {
  const moved = await page.evaluate<number>(`new Promise((resolve) => {
    let sum = 0;
    const add = (entries) => { for (const { value } of entries) sum += value; };
    const observer = new PerformanceObserver((list) => add(list.getEntries()));
    observer.observe({ type: "layout-shift", buffered: true });
    setTimeout(() => { add(observer.takeRecords()); resolve(sum); }, 100);
  })`);
  assert.ok(moved < 0.05, `${moved} of the page moved while it was loading`);
}

/** The address that the phone passes to the app, and the one that the browser opens without the app. */
function readIntent(href: string): { address: string; fallback: string } {
  const [, address, extras] = /^intent:\/\/(.*)#Intent;(.*);end$/.exec(href) ?? [];
  assert.ok(address !== undefined && extras !== undefined, href);
  const fields = new Map(extras.split(";").map((field) => field.split("=") as [string, string]));
  assert.equal(fields.get("package"), "org.example.verify");
  return {
    address: `${fields.get("scheme")}://${address}`,
    fallback: decodeURIComponent(fields.get("S.browser_fallback_url") ?? ""),
  };
}

const shell = `window.chipTransport = {
  maxCommandBytes: 261, maxResponseBytes: 258, extendedLength: false, cancel() {},
  transceive: () => new Promise(() => {}),
};`;

test("Android: the app comes first, before anything is agreed to; installing it leads back into the same session", async () => {
  const session = await createSession();
  const { page, problems } = await openPerson(session.verification_url, { device: "android" });
  await heading(page, "Quiet Bank asks you to verify your identity").waitFor();
  assert.equal(await page.getByRole("checkbox").count(), 0, "nothing is asked before the way is known");
  assert.equal(await code(page).count(), 0);
  const { address, fallback } = readIntent(await hrefOf(openInApp(page)));
  assert.equal(address, session.verification_url);
  await checkMovedLittle(page);
  await look(page, "android-app");

  // Without the app, the browser opens this instead.
  await page.goto(fallback);
  await page.getByRole("alert").filter({ hasText: "The app did not open" }).waitFor();
  assert.equal(await page.locator("main a").first().innerText(), "Install the app");
  assert.equal(await hrefOf(page.getByRole("link", { name: "Install the app" })), androidInstall);
  assert.equal(new URL(page.url()).search, "");
  await look(page, "android-app-missing");

  // Another device, and after agreeing back to the app, which then takes over with a token.
  await otherDevice(page).click();
  await page.reload();
  await agree(page);
  await heading(page, "Continue on another device").waitFor();
  await code(page).waitFor();
  await look(page, "android-other-device");
  await page.getByRole("button", { name: "Back to this device" }).click();
  await heading(page, "Continue in the app").waitFor();
  await page.reload();
  await heading(page, "Continue in the app").waitFor();
  assert.equal(await code(page).count(), 0);
  await page.locator("main a[href*='#handoff=']").waitFor();
  const taking = readIntent(await hrefOf(openInApp(page)));
  assert.match(taking.address, /#handoff=[\w-]+$/);
  assert.ok(!taking.fallback.includes("handoff"));
  await look(page, "android-agreed");

  const app = await openPage(browser, service.url, { device: "android" });
  await app.page.addInitScript(shell);
  await app.page.goto(taking.address);
  await heading(app.page, "Did you start this yourself?").waitFor();
  // A reload does not answer the question.
  await app.page.reload();
  await app.page.getByRole("button", { name: "Yes, I started this" }).click();
  await heading(app.page, "What is printed on your document?").waitFor();
  await heading(page, "Continue on the other device").waitFor();
  assert.deepEqual([...problems, ...app.problems], []);
  await app.page.context().close();
  await page.context().close();
});

test("iPhone: the same with a Universal Link; in the app itself the page reads, and says so before it asks", async () => {
  const session = await createSession();
  const { page, problems } = await openPerson(session.verification_url, { device: "iphone" });
  assert.equal(await hrefOf(openInApp(page)), `${session.verification_url}?app=missing`);
  await page.getByText("tap “Open” in the bar at the top").waitFor();
  assert.equal(await code(page).count(), 0);
  await look(page, "iphone-app");
  // Without the app, the link opens in the browser.
  await openInApp(page).click();
  await page.getByRole("alert").filter({ hasText: "The app did not open" }).waitFor();
  assert.equal(await hrefOf(page.getByRole("link", { name: "Install the app" })), iosInstall);
  assert.deepEqual(problems, []);

  await page.addInitScript(shell);
  await page.goto(`${session.verification_url}?app=missing`);
  await page.getByText("This device: it reads the chip").waitFor();
  await agree(page);
  await heading(page, "Read your document").waitFor();
  assert.equal(await code(page).count(), 0);
  await look(page, "shell-agreed");
  await otherDevice(page).click();
  await code(page).waitFor();
  await page.context().close();
});

test("where no app helps, the page says so, names the ways that remain, and leads back with the session cancelled", async () => {
  const session = expectData(await androidOnly.api.as(live.key.secret).post("/v1/sessions"), 201) as Created;
  const { page, problems } = await openPerson(session.verification_url, { device: "iphone" });
  await heading(page, "This phone can’t read your document here").waitFor();
  await page.getByText("there is no iPhone app for this verification").waitFor();
  await page.getByText("Use an Android phone with NFC").waitFor();
  await page.getByRole("link", { name: "help@quiet.example" }).waitFor();
  assert.equal(await page.getByRole("checkbox").count(), 0);
  await look(page, "iphone-no-app");
  await otherDevice(page).click();
  await page.getByRole("button", { name: "Back to this device" }).click();
  // The same after agreeing. A person who scans the code with another iPhone reads why it does not help.
  await otherDevice(page).click();
  await agree(page);
  await code(page).waitFor();
  await page.getByText("You need an Android phone with NFC; iPhones do not work here.").first().waitFor();
  const link = await page.getByLabel("Link for the other device").inputValue();
  const scanned = await openPerson(link, { device: "iphone" });
  await heading(scanned.page, "This phone can’t read your document here").waitFor();
  await look(scanned.page, "iphone-scanned-no-app");
  await scanned.page.context().close();
  await page.getByRole("button", { name: "Back to this device" }).click();
  await heading(page, "This phone can’t read your document here").waitFor();
  await page.getByRole("button", { name: "Back to Quiet Bank" }).click();
  await page.getByRole("button", { name: "Yes, cancel" }).click();
  await heading(page, "The verification was cancelled").waitFor();
  assert.equal(expectData(await live.api.get(`/v1/sessions/${session.id}`)).status, "cancelled");
  assert.deepEqual(problems, []);
  await page.context().close();
});

test("a code is for screens that are no phone; a phone that scans it is led to the app and takes nothing away", async () => {
  const session = await createSession();
  const { page } = await openPerson(session.verification_url, { device: "ipad" });
  await agree(page);
  await code(page).waitFor();
  await page.getByText("It works with Android phones and iPhones.").waitFor();
  await keepScreenshot(page, "phone-ipad-code-820-light");
  const link = await page.getByLabel("Link for the other device").inputValue();
  const scanned = await openPerson(link, { device: "android" });
  await heading(scanned.page, "Continue in the app").waitFor();
  await scanned.page.locator("main a[href*='#handoff=']").waitFor();
  await look(scanned.page, "android-scanned");
  await scanned.page.goto(readIntent(await hrefOf(openInApp(scanned.page))).fallback);
  await scanned.page.getByText("The app did not open").waitFor();
  const other = await openPerson(link, { device: "iphone" });
  await openInApp(other.page).waitFor();
  assert.equal(expectData(await live.api.get(`/v1/sessions/${session.id}`)).status, "created");
  for (const opened of [other.page, scanned.page, page]) await opened.context().close();
});

test("offline is told as such on every step, never as a fault of ours, and the page goes on afterwards", async () => {
  const session = await createSession(partner);
  const { page } = await openPerson(session.verification_url, { device: "android" });
  const offline = page.getByRole("alert").filter({ hasText: "You are offline" });
  const checkTruth = async () => {
    await offline.first().waitFor();
    assert.equal(await page.getByText("on our side").count(), 0);
    assert.equal(await page.getByRole("alert").count(), 1, "the page says one thing, and it is true");
  };
  await page.getByRole("checkbox", { name: "I agree to the check" }).check();
  await checkMovedLittle(page);
  await page.context().setOffline(true);
  await checkTruth();
  // A language whose texts cannot be loaded is not shown as the page's.
  for (const language of ["fr", "es"]) {
    const choice = page.getByRole("combobox", { name: "Language" });
    await choice.selectOption(language);
    await until("the choice goes back", async () => (await choice.inputValue()) === "en");
  }
  await page.getByRole("button", { name: "Agree and continue" }).click();
  await page.getByRole("status").filter({ hasText: "You are offline" }).waitFor();
  await checkTruth();
  await look(page, "offline");
  await page.getByRole("button", { name: "No, cancel" }).click();
  await page.getByRole("button", { name: "Yes, cancel" }).click();
  await page.getByRole("dialog").getByText("You are offline").waitFor();
  await page.getByRole("button", { name: "No, continue" }).click();
  await page.context().setOffline(false);
  await offline.first().waitFor({ state: "detached" });
  await page.getByRole("button", { name: "Agree and continue" }).click();
  await heading(page, "Continue in the app").waitFor();
  await page.getByRole("button", { name: "Choose a test passport" }).click();
  await page.getByRole("radio").first().waitFor();
  await page.context().setOffline(true);
  await checkTruth();
  // Work that starts offline waits for the network, shows no other error, and continues by itself.
  await readTestPassport(page, "Valid identity card");
  await heading(page, "Reading the chip").waitFor();
  await checkTruth();
  assert.equal(await page.getByText("Reading failed on this device").count(), 0);
  await look(page, "offline-reading");
  await page.context().setOffline(false);
  await heading(page, "Now show your face").waitFor();
  assert.equal(await page.getByRole("alert").count(), 0);
  await page.context().close();
});

test("a slow or silent service is told as such, and the page can be asked to try again", async () => {
  const session = await createSession(partner);
  const { page } = await openPage(browser, service.url, { device: "android" });
  page.setDefaultTimeout(30_000);
  await page.clock.install();
  await page.route("**/details", () => {});
  // The page comes without its data, as from a service that could not read it in time, and asks.
  await page.route(session.verification_url, async (route) => {
    const response = await route.fetch();
    const body = (await response.text()).replace(/<script type="application\/json".*?<\/script>/s, "");
    await route.fulfill({ response, body });
  });
  await page.goto(session.verification_url);
  await page.getByText("Loading…").waitFor();
  assert.equal(await page.getByText("longer than usual").count(), 0);
  await page.clock.runFor(6_000);
  await page.getByText("longer than usual").waitFor();
  await page.clock.runFor(16_000);
  await heading(page, "The service isn’t responding").waitFor();
  assert.equal(await page.getByText("on our side").count(), 0);
  await look(page, "no-answer");
  await page.unroute("**/details");
  await page.getByRole("button", { name: "Try again" }).click();
  await page.getByRole("checkbox", { name: "I agree to the check" }).waitFor();
  await page.context().close();
});

test("the link opened twice, or again after the app was killed, goes on where it was, in one place at a time", async () => {
  const session = await createSession(partner);
  const { page } = await openPerson(session.verification_url, { device: "android" });
  await agree(page);
  await page.getByRole("button", { name: "Choose a test passport" }).click();
  await readTestPassport(page, "Expired passport");
  await page.getByText("2 attempts left.").waitFor();

  const second = await page.context().newPage();
  second.setDefaultTimeout(30_000);
  await second.goto(session.verification_url);
  await heading(second, "Continue where you stopped").waitFor();
  await look(second, "resume");
  await second.getByRole("button", { name: "Continue here" }).click();
  await heading(second, "Choose a test passport").waitFor();
  await heading(page, "Another device has taken over").waitFor();

  // Everything is closed in the middle of it. The phone still knows that it has begun.
  const third = await page.context().newPage();
  third.setDefaultTimeout(30_000);
  await page.close();
  await second.close();
  await third.goto(session.verification_url);
  await third.getByRole("button", { name: "Continue here" }).click();
  await readTestPassport(third, "Valid identity card");
  await heading(third, "Now show your face").waitFor();

  // Another person with the link can follow, but neither take over nor end it.
  const other = await openPerson(session.verification_url, { device: "android" });
  await heading(other.page, "Continue on the other device").waitFor();
  await otherDevice(other.page).click();
  await other.page.getByRole("button", { name: "Choose a test passport" }).click();
  await heading(other.page, "Another device is in use").waitFor();
  await other.page.getByText(/is no longer at hand, ask .* for a new link/).waitFor();
  await look(other.page, "mismatch");
  await other.page.getByRole("button", { name: "Cancel verification" }).click();
  await other.page.getByText("Only the page where you agreed can cancel.").waitFor();
  assert.equal(await other.page.getByRole("button", { name: "Yes, cancel" }).count(), 0);
  await other.page.context().close();
  await third.getByRole("button", { name: "Continue", exact: true }).click();
  await heading(third, "You are verified").waitFor();
  // There is no endpoint, so nothing was sent and nothing is said to have been.
  await third.getByText("can see the result.").waitFor();
  assert.equal(await third.getByText("What was shared").count(), 0);
  assert.equal(await third.getByText("now receives").count(), 0);
  await third.context().close();
});
