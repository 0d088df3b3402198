import assert from "node:assert/strict";
import test from "node:test";
import type { Locator } from "playwright-core";
import { createPartner, expectData } from "../support/api.ts";
import { keepLooks, openBrowser } from "../support/browser.ts";
import { button, faults, heading, openDashboard } from "../support/dashboard.ts";
import { openLive } from "../support/live.ts";
import { startTestService } from "../support/service.ts";
import { claimed, createSession, succeed } from "../support/sessions.ts";

const { url, api, core } = await startTestService();
const browser = await openBrowser();
const partner = await createPartner(api);
const token = partner.owner.token;

/** Of the browser, whose globals the server's types do not know. */
type Window = { getComputedStyle(element: unknown): { backgroundColor: string; fill: string } };
const styleOf = (place: Locator) =>
  place.evaluate((element) => {
    const { backgroundColor, fill } = (globalThis as unknown as Window).getComputedStyle(element);
    return { backgroundColor, fill };
  });
const ground = async (place: Locator) => (await styleOf(place)).backgroundColor;
const fillOf = async (place: Locator) => (await styleOf(place)).fill;

test("who is not signed in is led to the sign-in and back, and the console has no error", async () => {
  const { page, problems } = await openDashboard(browser, url);
  await page.goto(`${url}/dashboard/domains`);
  await heading(page, "Sign in");
  assert.match(page.url(), /next=%2Fdashboard%2Fdomains$/);
  await page.waitForLoadState("networkidle");
  assert.deepEqual(problems, []);
  await page.getByLabel("E-mail").fill(partner.owner.email);
  await page.getByLabel("Password", { exact: true }).fill(partner.owner.password);
  await button(page, "Sign in").click();
  await heading(page, "Domains");
  assert.deepEqual(problems, []);
  await page.context().close();
});

test("without a network a page that was never opened leaves the one before as it is, and opens when there is one again", async () => {
  const { page, problems } = await openDashboard(browser, url, { token });
  await page.goto(`${url}/dashboard/sessions/new`);
  await page.getByLabel("Your reference").fill("typed before");
  await page.context().setOffline(true);
  await page.getByText("You are offline. What you see may be old").waitFor();
  await page.getByRole("link", { name: "Domains" }).click();
  await page.getByText("You are offline, so the page could not be opened.").waitFor();
  assert.equal(await page.getByText("What you see may be old").count(), 0, "one message, not two");
  await heading(page, "Create a session");
  assert.equal(await page.getByLabel("Your reference").inputValue(), "typed before");
  assert.equal(page.url(), `${url}/dashboard/sessions/new`);
  await button(page, "Try again").click();
  await page.getByText("You are offline, so the page could not be opened.").waitFor();
  // Parts of a page that come later neither.
  await page.keyboard.press("Control+k");
  await page.getByText("The search could not be loaded.").waitFor();
  assert.equal(await page.getByLabel("Your reference").inputValue(), "typed before");

  await page.context().setOffline(false);
  await page.getByText("The page could not be opened. This one is as you left it.").waitFor();
  await button(page, "Try again").click();
  await heading(page, "Domains");
  assert.equal(await page.getByText("could not be opened").count(), 0);
  await page.keyboard.press("Control+k");
  await page.getByRole("dialog", { name: "Search" }).waitFor();
  assert.deepEqual(faults(problems), []);
  await page.context().close();
});

test("a list that failed without a network is there again by itself when there is one", async () => {
  await createSession(partner.api, { client_reference_id: "after the tunnel" });
  const { page, problems } = await openDashboard(browser, url, { token });
  await page.goto(`${url}/dashboard/sessions`);
  await page.getByText("after the tunnel").waitFor();
  await page.context().setOffline(true);
  await page.getByLabel("Status").selectOption("created");
  await page.getByText("This could not be loaded.").waitFor();
  await page.context().setOffline(false);
  await page.getByText("after the tunnel").waitFor();
  assert.equal(await page.getByText("This could not be loaded.").count(), 0);
  assert.deepEqual(faults(problems), []);
  await page.context().close();
});

test("with forced colours it can be seen where one is, what is chosen and what a colour stands for", async () => {
  const live = await createPartner(api);
  await openLive(core, live.organizationId);
  const session = await createSession(live.api);
  await succeed(core, session, await claimed(core, session));
  const { page, problems } = await openDashboard(browser, url, { token: live.owner.token });
  await page.emulateMedia({ forcedColors: "active" });
  await page.goto(`${url}/dashboard?environment=sandbox`);
  await page.getByText("Sessions by day").waitFor();
  assert.equal(await page.title(), "Overview · Sandbox · Assay");
  const chosen = await ground(page.getByRole("button", { name: "Sandbox", pressed: true }));
  assert.notEqual(chosen, await ground(page.getByRole("button", { name: "Live", pressed: false })));
  assert.equal(await ground(page.getByRole("link", { name: "Overview", exact: true })), chosen);
  assert.notEqual(await ground(page.getByRole("link", { name: "Sessions", exact: true })), chosen);
  const swatch = (name: string) =>
    ground(page.getByRole("listitem").filter({ hasText: name }).locator("span").first());
  const swatches = [await swatch("Succeeded"), await swatch("Failed"), await swatch("Expired or cancelled")];
  assert.equal(new Set(swatches).size, 3, swatches.join());
  const bars = page.getByRole("listitem").filter({ hasText: "Opened the page" }).locator("rect");
  assert.notEqual(await fillOf(bars.first()), await fillOf(bars.last()));
  await keepLooks(page, "dashboard-forced-colours");

  await page.goto(`${url}/dashboard/sessions/new?environment=live`);
  await page.getByText("You are in live").waitFor();
  assert.equal(await page.title(), "Create a session · Live · Assay");
  assert.equal(await ground(page.getByRole("button", { name: "Live", pressed: true })), chosen);
  const choice = (name: string) => ground(page.locator("label").filter({ hasText: name }));
  assert.equal(await choice("Age check"), chosen);
  assert.notEqual(await choice("Full identity"), chosen);
  await page.keyboard.press("Control+k");
  await page.getByRole("menuitem", { name: "Domains" }).waitFor();
  await page.keyboard.press("ArrowDown");
  assert.equal(await ground(page.getByRole("menuitem").first()), chosen);
  assert.deepEqual(faults(problems), []);
  await page.context().close();
});

test("deliveries that failed are red, those that wait amber, and the banner counts the results that were lost", async () => {
  const own = await createPartner(api);
  const body = { url: "https://example.com/hook", name: "No key" };
  expectData(await own.api.post("/v1/webhooks/endpoints", body), 201);
  for (const times of [1, 2]) {
    const session = await createSession(own.api);
    await succeed(core, session, await claimed(core, session));
    const { page, problems } = await openDashboard(browser, url, { token: own.owner.token });
    await page.goto(`${url}/dashboard`);
    await page.getByText(times === 1 ? "1 result was lost." : "2 results were lost.").waitFor();
    const bar = async (name: string) =>
      fillOf(page.getByRole("listitem").filter({ hasText: name }).locator("rect").last());
    await page.getByText("Waiting for another try").waitFor();
    const [delivered, waiting, failed] = [
      await bar("Delivered"),
      await bar("Waiting for another try"),
      await bar("Given up"),
    ];
    // The tokens of the light scheme: good, warn, bad.
    assert.deepEqual(
      [delivered, waiting, failed],
      ["rgb(28, 107, 69)", "rgb(122, 74, 0)", "rgb(155, 34, 38)"],
    );
    assert.deepEqual(faults(problems), []);
    await page.context().close();
  }
});
