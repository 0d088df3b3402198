import assert from "node:assert/strict";
import test from "node:test";
import { createPartner } from "../support/api.ts";
import { openBrowser } from "../support/browser.ts";
import { button, faults, heading, openDashboard } from "../support/dashboard.ts";
import { startTestService } from "../support/service.ts";
import { createSession } from "../support/sessions.ts";

const { url, api } = await startTestService();
const browser = await openBrowser();
const partner = await createPartner(api);
const token = partner.owner.token;

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
