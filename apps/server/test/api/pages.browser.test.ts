import assert from "node:assert/strict";
import test from "node:test";
import {
  checkAccessibility,
  isWiderThanScreen,
  keepScreenshot,
  openBrowser,
  openPage,
} from "../support/browser.ts";
import { startTestService } from "../support/service.ts";

const { url } = await startTestService();
const browser = await openBrowser();

for (const [name, path] of [
  ["start", "/"],
  ["guides", "/docs"],
  ["errors", "/docs/errors"],
  ["configuration", "/docs/configuration"],
] as const) {
  for (const [width, colorScheme] of [
    [320, "dark"],
    [1440, "light"],
  ] as const) {
    test(`${path} at ${width} px, ${colorScheme}: accessible, fits, asks nobody else`, async () => {
      const { page, problems } = await openPage(browser, url, { width, colorScheme });
      await page.goto(url + path, { waitUntil: "networkidle" });
      assert.equal(await isWiderThanScreen(page), false, "the page scrolls sideways");
      await checkAccessibility(page, colorScheme === "dark" ? "all" : "contrast");
      await keepScreenshot(page, `page-${name}-${width}-${colorScheme}`);
      assert.deepEqual(problems, []);
      await page.context().close();
    });
  }
}

test("an error's docs link lands on its own heading", async () => {
  const { page } = await openPage(browser, url);
  await page.goto(`${url}/docs/errors#NOT_FOUND`);
  assert.equal(await page.locator(":target").textContent(), "NOT_FOUND");
});

test("the reference shows the routes and works with no other host", async () => {
  const { page, problems } = await openPage(browser, url);
  await page.goto(`${url}/reference`, { waitUntil: "networkidle" });
  await page.getByText("/v1/auth/sign-up/email").first().waitFor();
  await keepScreenshot(page, "page-reference");
  assert.deepEqual(problems, []);
});
