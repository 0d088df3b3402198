import assert from "node:assert/strict";
import test from "node:test";
import type { Page } from "playwright-core";
import { createPartner, expectData, signUpOwner } from "../../support/api.ts";
import { openBrowser } from "../../support/browser.ts";
import { button, heading, openDashboard } from "../../support/dashboard.ts";
import { startTestService } from "../../support/service.ts";

const { url, api } = await startTestService();
const browser = await openBrowser([], { whole: true, keepsPages: true });

/** All visible text of the page, if anything is shown. */
function textOf(page: Page): Promise<string> {
  return page.evaluate<string>("document.documentElement.hidden ? '' : document.body.innerText");
}

/**
 * A signed-in user at a page with data. `kept`: the browser keeps the page in its history despite `no-store`,
 * as some do; here the header is replaced.
 */
async function signedIn({ kept = false } = {}) {
  const owner = await signUpOwner(api);
  const opened = await openDashboard(browser, url, { token: owner.token });
  if (kept)
    await opened.page.route(`${url}/dashboard/settings`, async (route) => {
      const response = await route.fetch();
      await route.fulfill({ response, headers: { ...response.headers(), "cache-control": "no-cache" } });
    });
  await opened.page.goto(`${url}/dashboard/settings`);
  await heading(opened.page, "Settings");
  await opened.page.getByRole("link", { name: "Members" }).click();
  await heading(opened.page, "Members");
  await opened.page.getByText(owner.email).first().waitFor();
  return { ...opened, owner };
}

for (const kept of [false, true])
  test(`after signing out, Back shows nothing of what was there${kept ? ", in a browser that keeps every page" : ""}`, async () => {
    const { page, owner } = await signedIn({ kept });
    const seen: string[] = [];
    await button(page, "Sign out").click();
    await heading(page, "Sign in");
    await page.goBack({ waitUntil: "commit" });
    for (let look = 0; look < 20; look++) {
      seen.push(await textOf(page).catch(() => ""));
      await page.waitForTimeout(50);
    }
    await heading(page, "Sign in");
    assert.deepEqual(
      seen.filter((text) => text.includes(owner.email)),
      [],
    );
    await page.context().close();
  });

test("a page that comes back is shown to whoever is still signed in, with what was typed", async () => {
  const { page, owner } = await signedIn({ kept: true });
  await page.evaluate("document.body.dataset.mark = 'the same page'");
  await page.goto(`${url}/docs`);
  await page.goBack({ waitUntil: "commit" });
  await heading(page, "Members");
  await page.getByText(owner.email).first().waitFor();
  assert.equal(await page.evaluate("document.body.dataset.mark"), "the same page");
  await page.context().close();
});

test("a page that comes back after signing out elsewhere asks to sign in, and shows nothing before", async () => {
  const { page, owner } = await signedIn({ kept: true });
  await page.goto(`${url}/docs`);
  expectData(await owner.api.post("/v1/auth/sign-out"), 204);
  await page.goBack({ waitUntil: "commit" });
  const seen: string[] = [];
  for (let look = 0; look < 20; look++) {
    seen.push(await textOf(page).catch(() => ""));
    await page.waitForTimeout(50);
  }
  await heading(page, "Sign in");
  assert.ok(!seen.some((text) => text.includes(owner.email)));
  await page.context().close();
});

test("signing out in one tab empties the others", async () => {
  const { page, owner } = await signedIn();
  const other = await page.context().newPage();
  await other.goto(`${url}/dashboard/settings`);
  await heading(other, "Settings");
  await button(page, "Sign out").click();
  await heading(page, "Sign in");
  await heading(other, "Sign in");
  assert.ok(!(await textOf(other)).includes(owner.email));
  await page.context().close();
});

test("one tab verifies eight people one after the other, over six connections", async () => {
  const partner = await createPartner(api);
  const { page } = await openDashboard(browser, url);
  for (let person = 1; person <= 8; person++) {
    const session = expectData(await partner.api.post("/v1/sessions"), 201);
    await page.goto(session.verification_url);
    await page.getByRole("checkbox", { name: "I agree to the check" }).check();
    await page.getByRole("button", { name: "Agree and continue" }).click();
    await page
      .getByRole("heading", { level: 1, name: "Continue on your phone" })
      .waitFor({ timeout: 15_000 })
      .catch(() => assert.fail(`person ${person} is left waiting`));
    await page.getByRole("img").waitFor();
  }
  await page.context().close();
});

test("a page that is not seen holds no connection, and follows the session again when it is", async () => {
  const partner = await createPartner(api);
  const { page } = await openDashboard(browser, url);
  // Chromium reports every page of a test as visible, so the script overrides that.
  await page.addInitScript(`{
    let state = "visible";
    Object.defineProperty(document, "visibilityState", { get: () => state });
    window.setVisibility = (next) => { state = next; document.dispatchEvent(new Event("visibilitychange")); };
    const Real = EventSource;
    window.streams = [];
    window.EventSource = class extends Real {
      constructor(...given) { super(...given); window.streams.push(this); }
    };
  }`);
  const session = expectData(await partner.api.post("/v1/sessions"), 201);
  await page.goto(session.verification_url);
  const open = () =>
    page.evaluate<number>("window.streams.filter((stream) => stream.readyState !== 2).length");
  await page.getByRole("heading", { level: 1 }).waitFor();
  await page.waitForFunction("window.streams.length === 1");
  await page.evaluate("window.setVisibility('hidden')");
  assert.equal(await open(), 0);
  await page.evaluate("window.setVisibility('visible')");
  assert.equal(await open(), 1);
  expectData(await partner.api.post(`/v1/sessions/${session.id}/cancel`), 204);
  await page.getByRole("heading", { level: 1, name: "The verification was cancelled" }).waitFor();
  await page.context().close();
});
