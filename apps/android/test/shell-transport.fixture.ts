// The conformance suite for transports against the phone's code, in a browser.
// `npm run android -- test` runs it.
import assert from "node:assert/strict";
import test, { after } from "node:test";
import { testDocument } from "@assay/emrtd/node/test-country/catalogue";
import { transportChecks } from "../../../packages/device/transport-check/check-transport.ts";
import { buildCheckPage } from "../../../scripts/build-check-page.ts";
import { openBrowser, openPage } from "../../server/test/support/browser.ts";
import { isoDate, showIn, startPhone } from "./phone.ts";
import { startVirtualChip } from "./virtual-chip.ts";

// Nothing listens there: the test serves the page itself.
const url = "http://localhost:4400";
const browser = await openBrowser();
const document = testDocument("passport-valid", new Date());
assert.ok(document);
const { mrzKey } = document.chip;
const chip = await startVirtualChip(document);
after(() => chip.close());
const phone = await startPhone({ builtFor: url, chipPort: chip.port });

test("the shell passes the conformance suite for transports, in a browser and with its own code", async () => {
  const files = await buildCheckPage();
  // The shell opens pages of sessions alone; the page's other files lie beside it.
  const folder = `${url}/verify/`;
  const address = `${folder}vs_check`;
  const { page, problems } = await openPage(browser, url, { device: "android" });
  page.setDefaultTimeout(30_000);
  await page.route(`${folder}**`, async (route) => {
    const name = route.request().url().slice(folder.length);
    const file = files.get(name === "vs_check" ? "index.html" : name);
    assert.ok(file, name);
    await route.fulfill({ contentType: file.type, body: file.content });
  });
  let there = false;
  await page.exposeFunction("moveDocument", async (wanted: boolean) => {
    if (there !== wanted) await phone.ask(wanted ? "lay" : "take-away");
    there = wanted;
  });
  await page.addInitScript(
    "window.transportCheckHand = { layDown: () => moveDocument(true), takeAway: () => moveDocument(false) }",
  );
  await phone.ask("carries 65279");
  await showIn(page, phone, await phone.ask(`open ${address}`));
  await page.getByLabel("Document number").fill(mrzKey.documentNumber);
  await page.getByLabel("Date of birth").fill(isoDate(mrzKey.dateOfBirth, "19"));
  await page.getByLabel("Date of expiry").fill(isoDate(mrzKey.dateOfExpiry, "20"));
  await page.getByRole("button", { name: "Begin" }).click();
  await page.getByText("All checks that concern this shell passed.").waitFor({ timeout: 120_000 });
  const results = await page.locator("#results > li").allTextContents();
  assert.equal(results.length, transportChecks.length);
  assert.deepEqual(
    results.filter((line) => !line.startsWith("PASSED")),
    [],
  );
  assert.deepEqual(problems, []);
  await page.context().close();
});
