import assert from "node:assert/strict";
import test from "node:test";
import type { Page } from "playwright-core";
import { createPartner, expectData } from "../../support/api.ts";
import { checkAccessibility, keepScreenshot, openBrowser, openPage } from "../../support/browser.ts";
import { startTestService } from "../../support/service.ts";
import { agree, heading, readTestPassport, unfold, untilTold } from "../../support/verify-page.ts";

const { url, api } = await startTestService();
const browser = await openBrowser();
const partner = await createPartner(api);

async function createSession(body = {}): Promise<{ id: string; verification_url: string }> {
  return expectData(await partner.api.post("/v1/sessions", body), 201);
}

async function openPerson(address: string) {
  const { page, problems } = await openPage(browser, url, { width: 320, colorScheme: "dark" });
  page.setDefaultTimeout(30_000);
  await page.goto(address);
  return { page, problems };
}

/** What the browser keeps of a tab and of the device, by key. */
async function storedIn(page: Page): Promise<{ tab: string[]; device: Record<string, string> }> {
  return await page.evaluate(`({
    tab: Object.keys(sessionStorage).sort(),
    device: { ...localStorage },
  })`);
}

test("at the end nothing is stored on that the next person at this computer could use", async () => {
  const session = await createSession();
  const { page } = await openPerson(session.verification_url);
  const now = await page.evaluate<number>("Date.now()");
  const [fresh, old] = [
    ["vs_fresh", "f".repeat(48), now - 59 * 60_000],
    ["vs_old", "o".repeat(48), now - 61 * 60_000],
  ];
  await page.evaluate(
    `localStorage.setItem("assay:devices", ${JSON.stringify(JSON.stringify([old, fresh, ["vs_older", "x"]]))})`,
  );
  await page.reload();
  await page.getByRole("checkbox", { name: "I agree to the check" }).waitFor();
  assert.deepEqual(JSON.parse((await storedIn(page)).device["assay:devices"] ?? ""), [fresh]);
  await agree(page);
  await page.getByRole("button", { name: "Choose a test passport" }).click();
  await readTestPassport(page, "Valid identity card");
  await heading(page, "Now show your face").waitFor();
  const during = await storedIn(page);
  assert.deepEqual(during.tab, [`assay:${session.id}:cancel`, `assay:${session.id}:reading`]);
  assert.equal(JSON.parse(during.device["assay:devices"] ?? "").length, 2);
  // An observer runs as soon as the page has changed, before anything that the page does later.
  await page.evaluate(`new MutationObserver((_, observer) => {
    if (document.querySelector("h1")?.textContent !== "You are verified") return;
    window.storedAtEnd = Object.keys(sessionStorage);
    observer.disconnect();
  }).observe(document.body, { childList: true, characterData: true, subtree: true })`);
  await page.getByRole("button", { name: "Continue", exact: true }).click();
  await heading(page, "You are verified").waitFor();
  assert.deepEqual(await page.evaluate("window.storedAtEnd"), [`assay:${session.id}:cancel`]);
  const after = await storedIn(page);
  // The code with which the person can withdraw lives as long as the tab.
  assert.deepEqual(after.tab, [`assay:${session.id}:cancel`]);
  assert.deepEqual(JSON.parse(after.device["assay:devices"] ?? ""), [fresh]);
  await unfold(page, "Withdraw your consent");
  await page.getByRole("button", { name: "Withdraw consent" }).click();
  await page.getByRole("button", { name: "Yes, withdraw" }).click();
  // Nothing had been delivered yet, so there is nothing left of the success.
  await heading(page, "The verification was cancelled").waitFor();
  await page.waitForFunction("sessionStorage.length === 0");
  await page.context().close();

  const cancelled = await createSession();
  const other = await openPerson(cancelled.verification_url);
  await agree(other.page);
  await other.page.getByRole("button", { name: "Cancel verification" }).click();
  await other.page.getByRole("button", { name: "Yes, cancel" }).click();
  await heading(other.page, "The verification was cancelled").waitFor();
  await other.page.waitForFunction("sessionStorage.length === 0");
  assert.deepEqual((await storedIn(other.page)).device, {});
  // The receipt is available as long as the page is open.
  await unfold(other.page, "Your receipt");
  await other.page.getByRole("button", { name: "Show the receipt" }).waitFor();
  await other.page.context().close();
});

test("the page asks for a return code where the person is sent back with it, and nowhere else", async () => {
  for (const [body, asks] of [
    [{}, 0],
    [{ redirect_url: "http://localhost:9/booked" }, 1],
    [{ requirements: { binding: "required" } }, 1],
  ] as const) {
    const session = await createSession(body);
    const { page } = await openPage(browser, url, { device: "android" });
    const asked: string[] = [];
    page.on("request", (request) => {
      if (request.url().endsWith("/open")) asked.push(request.url());
    });
    await page.goto(session.verification_url);
    await agree(page);
    assert.equal(asked.length, asks, JSON.stringify(body));
    await page.context().close();
  }
});

test("a device that came by the code stays the device after its end, with nothing stored but that", async () => {
  const session = await createSession();
  const { page } = await openPerson(session.verification_url);
  await agree(page);
  const device = await openPerson(await page.getByLabel("Link for the other device").inputValue());
  await device.page.getByRole("button", { name: "Yes, I started this" }).click();
  await readTestPassport(device.page, "Valid identity card");
  await heading(device.page, "Now show your face").waitFor();
  await device.page.getByRole("button", { name: "Continue", exact: true }).click();
  for (const again of [false, true]) {
    if (again) await device.page.reload();
    await device.page.getByText("You can put this device aside").waitFor();
    assert.deepEqual(await storedIn(device.page), { tab: [`assay:${session.id}:device`], device: {} });
  }
  await device.page.context().close();
  await page.context().close();
});

test("a reader that never answers is told of after a while, and the person can begin again", async () => {
  const session = await createSession();
  const { page, problems } = await openPage(browser, url);
  page.setDefaultTimeout(30_000);
  await page.clock.install();
  await page.addInitScript(`window.chipTransport = {
    maxCommandBytes: 261, maxResponseBytes: 258, extendedLength: false,
    cancel() { window.cancelled = true; },
    transceive: () => new Promise(() => {}),
  };`);
  await page.goto(session.verification_url);
  await agree(page);
  await page.getByRole("button", { name: "Read the document here" }).click();
  await page.getByLabel("Document number", { exact: true }).fill("C01X00T47");
  await page.getByLabel("Date of birth", { exact: true }).fill("1964-08-12");
  assert.equal(await page.getByLabel("Date of birth", { exact: true }).getAttribute("autocomplete"), "off");
  await page.getByLabel("Date of expiry", { exact: true }).fill("2031-01-01");
  await page.getByRole("button", { name: "Read the chip" }).click();
  await heading(page, "Reading the chip").waitFor();
  await page.clock.fastForward(19_000);
  assert.equal(await page.getByRole("alert").count(), 0);
  await page.clock.fastForward(2_000);
  await untilTold(page, "The reader has not responded for a while.");
  await checkAccessibility(page, "structure");
  await keepScreenshot(page, "verify-reader-silent-1440-light");
  await page.getByRole("button", { name: "Start over" }).click();
  await page.getByRole("button", { name: "Read the chip" }).waitFor();
  assert.equal(await page.evaluate("window.cancelled"), true);
  assert.equal(expectData(await partner.api.get(`/v1/sessions/${session.id}`)).nfc_tries_used, 0);
  assert.deepEqual(problems, []);
  await page.context().close();
});
