import assert from "node:assert/strict";
import test from "node:test";
import { documentNames } from "../../../src/platform/pages/documents.ts";
import { checkAccessibility, isWiderThanScreen, openBrowser, openPage } from "../../support/browser.ts";
import { startTestService } from "../../support/service.ts";

// A hundred pages take longer than anything else in the suite. The same code makes them from the same styles
// as those of pages.browser.test.ts, which are always checked.
test("every guide, every decision and every page of the reference is accessible and fits a phone", async () => {
  const { url } = await startTestService();
  const { page, problems } = await openPage(await openBrowser(), url, { width: 390 });
  await page.goto(`${url}/reference`);
  const reference = await page
    .locator("a[href^='/reference/']")
    .evaluateAll((links) => links.map((link) => (link as unknown as { pathname: string }).pathname));
  const paths = [...documentNames().map((name) => `/docs/${name}`), "/reference", ...new Set(reference)];
  assert.ok(paths.length > 60, `${paths.length} pages`);
  const findings: string[] = [];
  for (const path of paths) {
    await page.goto(url + path, { waitUntil: "load" });
    if (await isWiderThanScreen(page)) findings.push(`${path} scrolls sideways`);
    await checkAccessibility(page).catch((error: Error) => findings.push(`${path}: ${error.message}`));
  }
  assert.deepEqual(findings, []);
  assert.deepEqual(problems, []);
});
