import assert from "node:assert/strict";
import test from "node:test";
import type { PageLanguage } from "@assay/contract/facts";
import { createPartner, expectData } from "../../support/api.ts";
import {
  checkAccessibility,
  isWiderThanScreen,
  keepScreenshot,
  openBrowser,
  openPage,
} from "../../support/browser.ts";
import { startTestService } from "../../support/service.ts";

const { url, api } = await startTestService();
const browser = await openBrowser();
const partner = await createPartner(api);
const session = expectData(
  await partner.api.post("/v1/sessions", {
    locale: "fi",
    share_fields: { family_name: { required: true, reason: "We write you letters." } },
  }),
  201,
) as { verification_url: string };

/** Words of buttons that go on in the next line. */
const brokenWords = `Array.from(document.querySelectorAll("form button")).flatMap((button) => {
  const texts = document.createTreeWalker(button, NodeFilter.SHOW_TEXT);
  const broken = [];
  while (texts.nextNode())
    for (const { 0: word, index } of texts.currentNode.data.matchAll(/[^\\s-]+/g)) {
      const range = document.createRange();
      range.setStart(texts.currentNode, index);
      range.setEnd(texts.currentNode, index + word.length);
      if (range.getClientRects().length > 1) broken.push(word);
    }
  return broken;
})`;

/** Languages with the longest words, another script, or right-to-left text. */
const walked: readonly PageLanguage[] = ["fi", "de", "el", "ar"];

test("no language is too wide for a narrow phone, and Arabic is mirrored", async () => {
  const { page, problems } = await openPage(browser, url);
  await page.goto(session.verification_url);
  const choice = page.locator("header select");
  for (const language of walked) {
    await choice.selectOption(language);
    await page.locator(`html[lang=${language}]`).waitFor();
    for (const width of [320, 390]) {
      await page.setViewportSize({ width, height: 900 });
      assert.equal(await isWiderThanScreen(page), false, `${language} scrolls sideways at ${width} px`);
      assert.deepEqual(await page.evaluate(brokenWords), [], `${language} at ${width} px`);
      await keepScreenshot(page, `verify-language-${language}-${width}-light`);
    }
  }
  await checkAccessibility(page);
  assert.equal(await page.evaluate("document.documentElement.dir"), "rtl");
  const sideOf = async (selector: string) => {
    const box = await page.locator(selector).first().boundingBox();
    return box === null ? null : box.x + box.width / 2 < 195 ? "left" : "right";
  };
  assert.deepEqual([await sideOf("header select"), await sideOf("form input")], ["left", "right"]);
  assert.deepEqual(problems, []);
  // The choice holds when the page is loaded again.
  await page.reload();
  await page.locator("html[lang=ar][dir=rtl]").waitFor();
  await page.context().close();
});

test("a translation that no lawyer has read says so, and the binding English text is one tap away", async () => {
  const { page, problems } = await openPage(browser, url);
  await page.goto(session.verification_url);
  const text = page.locator("section p[lang]");
  await page.locator("html[lang=fi]").waitFor();
  await page.getByText("Juristi ei ole tarkastanut tätä käännöstä.").waitFor();
  assert.equal(await text.getAttribute("lang"), "fi");
  await page.getByRole("button", { name: "Lue englanninkielinen teksti" }).click();
  await page.getByText("You agree that the chip of your document is read").waitFor();
  assert.deepEqual([await text.getAttribute("lang"), await text.getAttribute("dir")], ["en", "ltr"]);
  await page.getByRole("button", { name: "Takaisin käännökseen" }).click();
  await page.locator("section p[lang=fi]").waitFor();
  await page.locator("header select").selectOption("en");
  await page.locator("html[lang=en]").waitFor();
  assert.equal(await page.getByText("has not been reviewed by a lawyer").count(), 0);
  assert.deepEqual(problems, []);
  await page.context().close();
});
