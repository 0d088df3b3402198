import assert from "node:assert/strict";
import test from "node:test";
import type { Page } from "playwright-core";
import { createPartner, expectData } from "../../support/api.ts";
import { isWiderThanScreen, openBrowser, openPage } from "../../support/browser.ts";
import { startTestService } from "../../support/service.ts";
import { heading } from "../../support/verify-page.ts";

const { url, api } = await startTestService();
const browser = await openBrowser();
const partner = await createPartner(api);

async function open() {
  const session = expectData(await partner.api.post("/v1/sessions", {}), 201) as { verification_url: string };
  const opened = await openPage(browser, url);
  opened.page.setDefaultTimeout(30_000);
  await opened.page.goto(session.verification_url);
  return opened;
}

type AxNode = {
  ignored: boolean;
  role?: { value: string };
  name?: { value: string };
  properties?: { name: string; value: { value: unknown } }[];
};
const operable = new Set(["button", "link", "checkbox", "radio", "textbox", "combobox", "switch"]);

/** The accessibility tree of the current page. */
async function hear(page: Page, title: string): Promise<void> {
  await heading(page, title).waitFor();
  const devtools = await page.context().newCDPSession(page);
  const { nodes } = (await devtools.send("Accessibility.getFullAXTree")) as unknown as { nodes: AxNode[] };
  await devtools.detach();
  const told = nodes.filter(({ ignored }) => !ignored);
  const role = (node: AxNode) => node.role?.value ?? "";
  const has = (node: AxNode, name: string) =>
    node.properties?.find((property) => property.name === name)?.value.value;
  assert.deepEqual(
    told.filter((node) => operable.has(role(node)) && (node.name?.value ?? "").trim() === "").map(role),
    [],
    `${title}: something that can be operated has no name`,
  );
  const first = told.filter((node) => role(node) === "heading" && has(node, "level") === 1);
  assert.equal(first.length, 1, `${title}: one heading of the first level`);
  for (const landmark of ["main", "banner", "contentinfo", "status"])
    assert.ok(
      told.some((node) => role(node) === landmark),
      `${title}: ${landmark}`,
    );
  await checkSpacing(page);
}

/** More space around lines, words and letters hides nothing (WCAG 1.4.12), even on the narrowest phone. */
async function checkSpacing(page: Page): Promise<void> {
  const size = page.viewportSize() ?? { width: 1280, height: 720 };
  await page.setViewportSize({ ...size, width: 320 });
  await page.evaluate(`(() => {
    const sheet = new CSSStyleSheet();
    sheet.replaceSync("* { line-height: 1.5 !important; letter-spacing: .12em !important; word-spacing: .16em !important; } p { margin-bottom: 2em !important; }");
    document.adoptedStyleSheets = [sheet];
  })()`);
  assert.equal(await isWiderThanScreen(page), false);
  // A field scrolls by itself.
  const cut = await page.evaluate<
    string[]
  >(`[...document.querySelectorAll("header *, main, main *:not(input), footer *")]
    .filter((each) => getComputedStyle(each).overflow !== "visible" && each.clientHeight > 1)
    .filter((each) => each.scrollHeight > each.clientHeight + 1 || each.scrollWidth > each.clientWidth + 1)
    .map((each) => each.outerHTML.slice(0, 120))`);
  assert.deepEqual(cut, []);
  await page.evaluate("document.adoptedStyleSheets = []");
  await page.setViewportSize(size);
}

/** Moves by the Tab key until something with this name has the focus. */
async function tabTo(page: Page, name: RegExp): Promise<void> {
  for (let presses = 0; presses < 40; presses++) {
    await page.keyboard.press("Tab");
    const words = await page.evaluate<string>(
      "(e => e.labels?.[0]?.textContent || e.getAttribute('aria-label') || e.textContent || '')(document.activeElement)",
    );
    if (name.test(words)) return;
  }
  assert.fail(`The keyboard does not reach ${name}`);
}

test("the whole way can be gone by keyboard, and every screen is told in full to a screen reader", async () => {
  const { page, problems } = await open();
  await page.emulateMedia({ reducedMotion: "reduce" });
  await hear(page, "asks you to verify your identity");
  await tabTo(page, /I agree to the check/);
  await page.keyboard.press("Space");
  await tabTo(page, /Agree and continue/);
  await page.keyboard.press("Enter");
  await hear(page, "Continue on your phone");
  await tabTo(page, /Choose a test passport/);
  await page.keyboard.press("Enter");
  await hear(page, "Choose a test passport");
  await tabTo(page, /passport|card/i);
  await page.keyboard.press("Space");
  await tabTo(page, /Read this document/);
  await page.keyboard.press("Enter");
  await hear(page, "Now show your face");
  assert.equal(await page.evaluate("document.getAnimations().length"), 0, "something moves all the same");
  // Text of double size still fits the width.
  await page.setViewportSize({ width: 640, height: 900 });
  await page.evaluate("document.documentElement.style.fontSize = '200%'");
  assert.equal(await isWiderThanScreen(page), false);
  await page.evaluate("document.documentElement.style.fontSize = ''");
  // A person who cannot turn the head finds the other way, reads what it means, and can go back.
  await tabTo(page, /I cannot turn my head/);
  await page.keyboard.press("Enter");
  await page.getByText("These movements prove less, so the reported risk is higher.").waitFor();
  await page.getByRole("button", { name: "I can turn my head" }).waitFor();
  assert.equal(await page.getByRole("checkbox", { name: "Read the instructions aloud" }).isChecked(), false);
  await page.getByRole("button", { name: "Continue", exact: true }).focus();
  await page.keyboard.press("Enter");
  await hear(page, "You are verified");
  assert.deepEqual(problems, []);
  await page.context().close();
});

test("on a phone nothing that has the focus lies under the bar with the button", async () => {
  const { page } = await open();
  await page.setViewportSize({ width: 320, height: 640 });
  await hear(page, "asks you to verify your identity");
  // What has the focus, and how much of it can be seen above the bar that stays at the lower edge, or in it.
  const focused = () =>
    page.evaluate<{ words: string; seen: number; inBar: boolean }>(`(() => {
      const element = document.activeElement;
      const bar = [...document.querySelectorAll("main *")].find((each) => getComputedStyle(each).position === "sticky");
      const inBar = bar.contains(element);
      const { top, bottom } = element.getBoundingClientRect();
      const edge = inBar ? innerHeight : bar.getBoundingClientRect().top;
      return { words: element.labels?.[0]?.textContent ?? element.textContent, seen: Math.min(bottom, edge) - Math.max(top, 0), inBar };
    })()`);
  const hidden: string[] = [];
  let above = 0;
  for (let presses = 0; presses < 30; presses++) {
    await page.keyboard.press("Tab");
    const { words, seen, inBar } = await focused();
    if (seen <= 0) hidden.push(words);
    if (!inBar) above += 1;
    if (/Agree and continue/.test(words)) break;
  }
  assert.deepEqual(hidden, []);
  assert.ok(above > 2, "nothing above the bar had the focus");
  await page.context().close();
});
