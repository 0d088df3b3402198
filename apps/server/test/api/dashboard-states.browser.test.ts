import assert from "node:assert/strict";
import test from "node:test";
import { createPartner } from "../support/api.ts";
import { openBrowser } from "../support/browser.ts";
import { button, heading, openDashboard } from "../support/dashboard.ts";
import { startTestService } from "../support/service.ts";

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
