import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";
import type { ChipSource } from "@assay/device/drive-device";
import { runDevice } from "@assay/device/run-device";
import { virtualPassport } from "@assay/device/virtual-passport";
import { createVirtualChip } from "@assay/emrtd/virtual/virtual-chip";
import { createPartner, expectData } from "../../support/api.ts";
import { checkAccessibility, openBrowser, openPage } from "../../support/browser.ts";
import { startTestService } from "../../support/service.ts";
import { testDocument } from "../../support/verify-device.ts";
import { agree, heading } from "../../support/verify-page.ts";

const { url, api, clock } = await startTestService();
const browser = await openBrowser();
const script = readFileSync(
  new URL("../../../../ios/Shared/Resources/chip-transport.js", import.meta.url),
  "utf8",
);

test("the page reads a chip through the iPhone shell's script in a real browser, also one that slips and a key that is wrong first", async () => {
  const partner = await createPartner(api);
  const session = expectData(
    await partner.api.post("/v1/sessions", {
      share_fields: { family_name: { required: true, reason: "To find your booking." } },
    }),
    201,
  );
  const document = testDocument("passport-valid", clock.now());
  const { mrzKey, ...keys } = document.chip;
  const chip = createVirtualChip({ ...keys, files: document.files, mrzKey, applicationSelected: true });
  const { page, problems } = await openPage(browser, url);
  page.setDefaultTimeout(30_000);

  const heard: string[] = [];
  let sheets = 0;
  let open = false;
  let commands = 0;
  await page.exposeFunction("phone", async (message: string) => {
    const [kind = "", hex = ""] = message.split(" ");
    heard.push(message);
    if (kind === "cancel") open = false;
    if (kind !== "transceive") return "done 1";
    if (!open) {
      // A sheet begins with a freshly powered chip.
      await chip.reset();
      sheets += 1;
      commands = 0;
    }
    open = true;
    commands += 1;
    // The document slips once in the second sheet, in the middle of its files.
    if (sheets === 2 && commands === 40) {
      await chip.reset();
      return "lost left 1";
    }
    const answer = await chip.transceive(Buffer.from(hex, "hex"));
    return `answer ${Buffer.from(answer).toString("hex")} 1`;
  });
  // As KeptState.swift puts it together, before all scripts of the page.
  await page.addInitScript(`((shellFacts) => {
    window.webkit = { messageHandlers: { chip: { postMessage: (message) => window.phone(message) } } };
    ${script}
  })({"reader":"ready"});`);
  await page.goto(session.verification_url);

  await agree(page);
  await page.getByRole("button", { name: "Read the document here" }).click();
  const date = (text: string, century: string) =>
    `${century}${text.slice(0, 2)}-${text.slice(2, 4)}-${text.slice(4, 6)}`;
  await page.getByLabel("Document number", { exact: true }).fill(mrzKey.documentNumber);
  await page.getByLabel("Date of birth", { exact: true }).fill(date(mrzKey.dateOfBirth, "19"));
  await page.getByLabel("Date of expiry", { exact: true }).fill("2031-01-01");
  await page.getByRole("button", { name: "Read the chip" }).click();
  await page.getByText("The chip did not open").first().waitFor();
  assert.equal(open, false, "the sheet is closed, so that the page can be read");
  await page.getByLabel("Date of expiry", { exact: true }).fill(date(mrzKey.dateOfExpiry, "20"));
  await page.getByRole("button", { name: "Read the chip" }).click();
  await page.getByRole("heading", { level: 1, name: "Now show your face" }).waitFor();

  assert.equal(sheets, 2, "a document that slips opens no new sheet");
  assert.ok(heard.includes("progress portrait 50"));
  const kept = heard.find((message) => message.startsWith("keep {"));
  assert.match(kept ?? "", new RegExp(`assay:${session.id}:`), "the place is kept before a document is read");
  assert.doesNotMatch(heard.filter((message) => message.startsWith("keep")).join(), /MUSTER|ERIKSSON|P</);
  assert.deepEqual(problems, []);
  await page.context().close();
});

test("while a desk reads, the person's own page says what happens there, what was refused, and what comes next", async () => {
  const partner = await createPartner(api);
  const session = expectData(
    await partner.api.post("/v1/sessions", {
      share_fields: { family_name: { required: true, reason: "To find your booking." } },
    }),
    201,
  );
  const { page, problems } = await openPage(browser, url);
  page.setDefaultTimeout(30_000);
  await page.goto(session.verification_url);
  await agree(page);

  const passport = (id: string) => virtualPassport(testDocument(id, clock.now()));
  const documents: ChipSource[] = [passport("passport-expired"), passport("passport-valid")];
  const mayRead = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  let readings = 0;
  const desk = runDevice({
    verificationUrl: session.verification_url,
    consent: "given",
    stopAfter: "chip",
    chip: async (onStep) => {
      const turn = readings++;
      await mayRead[turn]?.promise;
      const source = documents[turn];
      assert.ok(source);
      return await source(onStep);
    },
  });

  await heading(page, "Continue on the other device").waitFor();
  await page.getByText("a reader at a desk has taken over").waitFor();
  await page.getByText("Reading the chip").first().waitFor();
  assert.equal(await page.getByText("The last attempt was not accepted").count(), 0);
  mayRead[0]?.resolve();
  const refused = page.getByRole("alert").filter({ hasText: "The last attempt was not accepted" });
  await refused.waitFor();
  assert.match(await refused.innerText(), /The document has expired.*that is still valid\./s);
  await page.getByText("2 attempts left.").waitFor();
  await page.reload();
  await refused.filter({ hasText: "The document has expired" }).waitFor();
  mayRead[1]?.resolve();
  assert.deepEqual(await desk, { kind: "stopped", sessionId: session.id, after: "chip" });
  await page.getByRole("alert").filter({ hasText: "Your face is next" }).waitFor();
  assert.equal(await page.getByText("The last attempt was not accepted").count(), 0);
  await checkAccessibility(page, "structure");
  assert.deepEqual(problems, []);
  await page.context().close();
});
