import assert from "node:assert/strict";
import test from "node:test";
import type { ChipSource } from "@assay/device/drive-device";
import { runDevice } from "@assay/device/run-device";
import { virtualPassport } from "@assay/device/virtual-passport";
import { createPartner, expectData } from "../support/api.ts";
import { checkAccessibility, openBrowser, openPage } from "../support/browser.ts";
import { startTestService } from "../support/service.ts";
import { testDocument } from "../support/verify-device.ts";
import { agree, heading } from "../support/verify-page.ts";

const { url, api, clock } = await startTestService();
const browser = await openBrowser();

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
  await page.getByText("The chip is being read.").first().waitFor();
  assert.equal(await page.getByText("The last attempt was not accepted").count(), 0);
  mayRead[0]?.resolve();
  await page.getByRole("alert").filter({ hasText: "The last attempt was not accepted" }).waitFor();
  await page.getByText("2 attempts left.").waitFor();
  mayRead[1]?.resolve();
  assert.deepEqual(await desk, { result: "stopped", sessionId: session.id, after: "chip" });
  await page.getByRole("alert").filter({ hasText: "Your face is next" }).waitFor();
  assert.equal(await page.getByText("The last attempt was not accepted").count(), 0);
  await checkAccessibility(page);
  assert.deepEqual(problems, []);
  await page.context().close();
});
