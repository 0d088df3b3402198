import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";
import { createVirtualChip } from "@assay/emrtd/virtual/virtual-chip";
import { createPartner, expectData } from "../../support/api.ts";
import { keepScreenshot, openBrowser, openPage } from "../../support/browser.ts";
import { startTestService } from "../../support/service.ts";
import { until } from "../../support/until.ts";
import { testDocument } from "../../support/verify-device.ts";

const { url, api, clock } = await startTestService();
const browser = await openBrowser();
const script = readFileSync(new URL("../../../../android/assets/chip-transport.js", import.meta.url), "utf8");

test("the page reads a chip through the Android shell's script in a real browser", async () => {
  const partner = await createPartner(api);
  const session = expectData(
    await partner.api.post("/v1/sessions", {
      share_fields: { family_name: { required: true, reason: "To find your booking." } },
    }),
    201,
  );
  const document = testDocument("passport-valid", clock.now());
  const { mrzKey, ...keys } = document.chip;
  const chip = createVirtualChip({ ...keys, files: document.files, mrzKey });
  const { page, problems } = await openPage(browser, url, { width: 390 });
  page.setDefaultTimeout(30_000);

  // As the shell has it run: before all scripts of the page.
  const antenna = { at: "top", fromTop: 0.2, fromLeft: 0.5, toldBy: "phone" };
  const facts = { reader: "off", antenna, kept: null };
  const others: string[] = [];
  let isInField = false;
  await page.addInitScript(`{ const shellFacts = ${JSON.stringify(facts)};\n${script} }`);
  await page.exposeFunction("phone", async (message: string) => {
    const [kind, number, hex = ""] = message.split(" ");
    if (kind !== "transceive") {
      others.push(message);
      return kind === "settings" ? ["reader ready"] : [];
    }
    await until("the chip is in the field", () => isInField);
    const answer = Buffer.from(await chip.transceive(Buffer.from(hex, "hex"))).toString("hex");
    return ["limits 65279 65279 1", `answer ${number} ${answer}`];
  });
  await page.goto(session.verification_url);
  await page.evaluate(`{
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = async ({ data }) => {
      for (const message of await window.phone(data)) port1.postMessage(message);
    };
    window.dispatchEvent(new MessageEvent("message", { data: "chip-transport", ports: [port2] }));
  }`);

  await page.getByRole("checkbox", { name: "I agree to the check" }).check();
  await page.getByRole("button", { name: "Agree and continue" }).click();
  await page.getByRole("button", { name: "Read the document here" }).click();
  const date = (text: string, century: string) =>
    `${century}${text.slice(0, 2)}-${text.slice(2, 4)}-${text.slice(4, 6)}`;
  // The person is led to the switch before they type anything, and what was said is gone when they come back.
  const isOff = page.getByRole("alert").filter({ hasText: "NFC is turned off" });
  await isOff.getByRole("button", { name: "Open the settings" }).click();
  await isOff.waitFor({ state: "detached" });
  assert.ok(others.includes("settings"));
  await page.getByLabel("Document number", { exact: true }).fill(mrzKey.documentNumber);
  await page.getByLabel("Date of birth", { exact: true }).fill(date(mrzKey.dateOfBirth, "19"));
  await page.getByLabel("Date of expiry", { exact: true }).fill(date(mrzKey.dateOfExpiry, "20"));
  await page.getByRole("button", { name: "Read the chip" }).click();
  await page.getByText("Hold the document against the upper part of the phone’s back.").waitFor();
  await keepScreenshot(page, "android-hold-390-light");
  isInField = true;
  await page.getByRole("heading", { level: 1, name: "Now show your face" }).waitFor();
  assert.equal(await page.evaluate("window.chipTransport.extendedLength"), true);
  assert.deepEqual(problems, []);
  await page.context().close();
});
