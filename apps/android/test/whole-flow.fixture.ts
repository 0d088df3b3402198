// The whole flow through the phone's code: a real service, the real page in a browser, the shell under
// Robolectric, a software chip behind its IsoDep. This file replaces the web view: it runs the shell's script
// for the page and carries the messages of the port. `npm run android -- test` runs it.
import assert from "node:assert/strict";
import test, { after } from "node:test";
import { testDocument } from "@assay/emrtd/node/test-country/catalogue";
import { createPartner, expectData } from "../../server/test/support/api.ts";
import { openBrowser, openPage } from "../../server/test/support/browser.ts";
import { startTestService } from "../../server/test/support/service.ts";
import t from "../../verify/texts/en.json" with { type: "json" };
import { isoDate, showIn, startPhone } from "./phone.ts";
import { startVirtualChip } from "./virtual-chip.ts";

const { url, api, clock } = await startTestService();
const browser = await openBrowser();
const document = testDocument("passport-valid", clock.now());
assert.ok(document);
const { mrzKey } = document.chip;
const chip = await startVirtualChip(document);
after(() => chip.close());
/** Started together, because each takes a while. */
const [reader, own] = await Promise.all(
  [null, url].map((builtFor) => startPhone({ builtFor, chipPort: chip.port })),
);
assert.ok(reader && own);

for (const [name, phone, transceiveBytes, commandsUntilSlip] of [
  ["Assay Reader, extended length", reader, 65_279, 22],
  ["an app for one origin, short commands only", own, 261, 70],
] as const) {
  test(`a person is verified through the Android shell, whose process was ended and whose document slipped: ${name}`, async () => {
    const partner = await createPartner(api);
    const session = expectData(
      await partner.api.post("/v1/sessions", {
        share_fields: { family_name: { required: true, reason: "To find your booking." } },
      }),
      201,
    );
    phone.contacts = 0;
    await phone.ask(`carries ${transceiveBytes}`);
    const { page: first, problems } = await openPage(browser, url, { device: "android" });
    first.setDefaultTimeout(30_000);
    const opened = await phone.ask(`open ${session.verification_url}`);
    const [kind, text = ""] = opened.split(" ");
    assert.equal(kind, phone === reader ? "asks" : "script");
    if (phone === reader) {
      const { organization } = expectData(await api.get(`/v1/verify/session/${session.id}/details`));
      const question = Buffer.from(text, "base64").toString();
      assert.ok(question.includes(new URL(url).host), question);
      assert.ok(question.includes(organization.name), question);
    }
    await showIn(first, phone, phone === reader ? await phone.ask("agree") : opened);
    await first.getByRole("checkbox", { name: t.agreeLabel }).check();
    await first.getByRole("button", { name: t.agreeButton }).click();
    await first.getByRole("button", { name: t.readHereButton }).waitFor();

    // Android ends the process. The tab and its sessionStorage are gone; localStorage stays.
    const page = await first.context().newPage();
    page.setDefaultTimeout(30_000);
    const restarted = await phone.ask("end-process");
    await first.close();
    await showIn(page, phone, restarted);
    await page.getByRole("button", { name: t.readHereButton }).click();
    await page.getByLabel(t.documentNumber, { exact: true }).fill(mrzKey.documentNumber);
    await page.getByLabel(t.dateOfBirth, { exact: true }).fill(isoDate(mrzKey.dateOfBirth, "19"));
    await page.getByLabel(t.dateOfExpiry, { exact: true }).fill(isoDate(mrzKey.dateOfExpiry, "20"));
    await page.getByRole("button", { name: t.readButton }).click();

    // The person places the document; it slips in the middle of the reading, and is placed again.
    const slipped = new Promise<void>((resolve) => {
      phone.onLost = resolve;
    });
    await phone.ask(`lay ${commandsUntilSlip}`);
    await slipped;
    await phone.ask("lay");
    await page.getByRole("heading", { level: 1, name: t.faceTitle }).waitFor();
    assert.equal(phone.contacts, 2);
    assert.equal(
      await page.evaluate("window.chipTransport.extendedLength"),
      transceiveBytes > 261,
      "the limits are those of the phone",
    );
    await page.getByRole("button", { name: t.faceSimulatedStart, exact: true }).click();
    await page.getByRole("heading", { level: 1, name: t.succeededTitle }).waitFor();
    const { status } = expectData(await partner.api.get(`/v1/sessions/${session.id}`));
    assert.equal(status, "succeeded");
    assert.deepEqual(problems, []);
    await page.context().close();
  });
}
