import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";
import {
  checkAccessibility,
  isWiderThanScreen,
  keepScreenshot,
  keepsScreenshots,
  looksAtAll,
  openBrowser,
  openPage,
} from "../../support/browser.ts";
import { faults } from "../../support/dashboard.ts";
import { startTestService } from "../../support/service.ts";

// A file for phones, with any content, creates the page about its installation.
const { url } = await startTestService({ env: { READER_APP_ANDROID_FILE: import.meta.filename } });
const browser = await openBrowser();
const personsWords = JSON.parse(
  readFileSync(new URL("../../../../verify/texts/en.json", import.meta.url), "utf8"),
);

/** For `npm run screens`. */
const extraLooks = [
  [320, "light"],
  [390, "light"],
  [390, "dark"],
  [1440, "dark"],
] as const;

test("the pages, narrow and dark, then wide and light: accessible, fit, ask nobody else", async () => {
  const { page, problems } = await openPage(browser, url);
  for (const path of [
    "/",
    "/docs",
    "/docs/webhooks",
    "/docs/configuration",
    "/reference/sessions",
    "/app",
    "/nope",
  ]) {
    await page.goto(url + path, { waitUntil: "load" });
    for (const [width, colorScheme] of [
      [320, "dark"],
      [1440, "light"],
      ...(keepsScreenshots ? extraLooks : []),
    ] as const) {
      await page.setViewportSize({ width, height: 900 });
      await page.emulateMedia({ colorScheme });
      await keepScreenshot(page, `page${path.replaceAll("/", "-")}-${width}-${colorScheme}`);
      if (extraLooks.some((look) => look[0] === width && look[1] === colorScheme)) continue;
      assert.equal(await isWiderThanScreen(page), false, `${path} scrolls sideways at ${width} px`);
      // The colours of both schemes are tested in `packages/ui`, and the light ones on every page by
      // every-page.system.test.ts.
      if (colorScheme === "dark" || looksAtAll)
        await checkAccessibility(page, colorScheme === "dark" ? "all" : "contrast");
    }
  }
  assert.deepEqual(faults(problems), []);
  await page.context().close();
});

test("the start page leads to an account, and shows on a phone what a person's choice does to the webhook, without a script", async () => {
  const context = await browser.newContext({ javaScriptEnabled: false });
  const page = await context.newPage();
  await page.goto(url);
  const received = page.getByLabel("The decrypted webhook");
  // Waits until the example is laid out.
  await received.hover();
  const shown = async () => JSON.parse(await received.innerText()) as { data: { claims: object } };
  assert.deepEqual(Object.keys((await shown()).data.claims), [
    "family_name",
    "nationality_code",
    "age_over_18",
  ]);
  await page.getByLabel("Family name").uncheck();
  assert.deepEqual(Object.keys((await shown()).data.claims), ["nationality_code", "age_over_18"]);
  await page.getByLabel("I agree").uncheck();
  assert.equal(await received.isVisible(), false);
  await page.getByText("Without agreement nothing is read").waitFor();
  // The phone is drawn by the server, so it appears at once. Its texts are those of the person's page.
  const phone = (await page.locator(".phone").innerText()).replaceAll(/\s+/g, " ");
  const { consentTitle, whatIsAsked, claim, claimAgeOver, agreeLabel, agreeButton, byAssay } = personsWords;
  for (const words of [consentTitle, whatIsAsked, claim.family_name, claim.nationality_code, agreeLabel])
    assert.ok(phone.includes(words.replace("{name}", "Acme Shop")), words);
  for (const words of [claimAgeOver.other.replace("{count}", "18"), agreeButton, byAssay])
    assert.ok(phone.includes(words), words);
  for (const [name, path] of [
    ["Create an account", "/dashboard/sign-up"],
    ["Sign in", "/dashboard/sign-in"],
    ["OpenAPI", "/openapi"],
    ["reading devices", "/docs/reading-devices"],
  ] as const)
    assert.equal(await page.getByRole("link", { name, exact: true }).getAttribute("href"), path);
  await context.close();
});

test("on a phone the script moves nothing that is there before it", async () => {
  const { page } = await openPage(browser, url, { width: 390 });
  const topOfText = () => page.locator("main").evaluate((main) => main.getBoundingClientRect().top);
  await page.route("**/assets/pages.js", (route) => route.abort());
  await page.goto(`${url}/docs/webhooks`);
  const before = await topOfText();
  await page.unroute("**/assets/pages.js");
  await page.reload();
  await page.getByRole("searchbox").waitFor();
  assert.equal(await topOfText(), before);
  await page.context().close();
});

test("a long guide is laid out in parts: nothing that is seen moves, and an address and print reach what was not laid out", async () => {
  const { page } = await openPage(browser, url, { width: 390 });
  await page.goto(`${url}/docs/errors`);
  await page.evaluate(
    "Promise.all(document.getAnimations().map((each) => each.finished)).then(() => new Promise(requestAnimationFrame))",
  );
  const skipped = () =>
    page.evaluate<number>(
      '[...document.querySelectorAll(".part")].filter((part) => !part.lastElementChild.checkVisibility({ contentVisibilityAuto: true })).length',
    );
  assert.ok((await skipped()) > 5, "parts that nobody looks at are not laid out");
  const shifts = await page.evaluate<number>(
    `new Promise((resolve) => new PerformanceObserver((list) => resolve(list.getEntries().reduce((sum, { value }) => sum + value, 0)))
      .observe({ type: "layout-shift", buffered: true }) || setTimeout(resolve, 200, 0))`,
  );
  assert.ok(shifts < 0.01, `${shifts}`);
  // The last heading that the page lists, far below.
  const last = await page.locator(".contents a").last().getAttribute("href");
  await page.goto(`${url}/docs/privacy`);
  const border = await page.evaluate<string>(
    "getComputedStyle(document.querySelector('.part td')).borderBottomStyle",
  );
  assert.equal(border, "solid", "tables have lines in every part");
  await page.goto(`${url}/docs/errors${last}`);
  const seen = await page.locator(":target").evaluate((heading) => heading.getBoundingClientRect().top);
  assert.ok(seen >= 0 && seen < 800, `the heading stands at ${seen}`);
  await page.goto(`${url}/docs/errors`);
  await page.emulateMedia({ media: "print" });
  for (let look = 0; look < 1000 && (await skipped()) > 0; look++)
    await page.evaluate("new Promise(requestAnimationFrame)");
  assert.equal(await skipped(), 0);
  await page.context().close();
});

test("an error's docs link lands on its own heading, and a search finds it without asking anybody", async () => {
  const { page, problems } = await openPage(browser, url);
  await page.goto(`${url}/docs/errors#NOT_FOUND`);
  assert.equal(await page.locator(":target").textContent(), "NOT_FOUND");
  await page.getByRole("searchbox").fill("unknown_claim_key");
  await page.locator("#found a").first().click();
  await page.waitForURL("**/docs/errors#UNKNOWN_CLAIM_KEY");
  await page.getByRole("searchbox").fill("cancel a session");
  await page.keyboard.press("Enter");
  await page.waitForURL("**/reference/sessions#cancelSession");
  assert.deepEqual(problems, []);
});

test("a language that is chosen once is chosen for every sample, and a sample can be copied", async () => {
  const { page, problems } = await openPage(browser, url);
  await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
  await page.goto(`${url}/reference/sessions#getSession`);
  const operation = page.locator("section", { has: page.locator("#getSession") });
  await operation.getByRole("tab", { name: "Python" }).click();
  const samples = await page.getByRole("tab", { name: "Python" }).count();
  assert.ok(samples > 1);
  assert.equal(await page.getByRole("tab", { name: "Python", selected: true }).count(), samples);
  await operation.getByRole("tabpanel").getByRole("button", { name: "Copy" }).click();
  await operation.getByRole("button", { name: "Copied" }).waitFor();
  await page.reload();
  assert.equal(await page.getByRole("tab", { name: "Python", selected: true }).count(), samples);
  assert.deepEqual(problems, []);
});

test("a request can be tried from the reference", async () => {
  const { page } = await openPage(browser, url);
  await page.goto(`${url}/reference/sign-in#readSignUp`);
  const operation = page.locator("section", { has: page.locator("#readSignUp") });
  await operation.getByText("Try it").click();
  await operation.getByRole("button", { name: "Send GET" }).click();
  await operation.locator("output").getByText('"mode": "open"').waitFor();
});

test("without script guides and reference can be read, every sample included", async () => {
  const context = await browser.newContext({ javaScriptEnabled: false });
  const page = await context.newPage();
  await page.goto(`${url}/reference/sessions`);
  assert.equal(await page.getByText("import os, requests").first().isVisible(), true);
  await context.close();
});
