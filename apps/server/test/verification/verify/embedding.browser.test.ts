import assert from "node:assert/strict";
import test from "node:test";
import type { Frame, Page } from "playwright-core";
import { createPartner, expectData } from "../../support/api.ts";
import { openBrowser } from "../../support/browser.ts";
import { startPartnerPage } from "../../support/partner-page.ts";
import { startTestService } from "../../support/service.ts";
import { until } from "../../support/until.ts";

const { url, api } = await startTestService();
const browser = await openBrowser();
const { origin } = await startPartnerPage(url);
const partner = await createPartner(api);

type Told = { name: string; status?: string; step?: string };
const toldTo = (page: Page) => page.evaluate<Told[]>("window.log");

/** The partner's page with a session in its frame, once the frame has said that it is ready. */
async function openFrame(): Promise<{ page: Page; frame: Frame; sessionId: string }> {
  const session = expectData(await partner.api.post("/v1/sessions", { embed_origin: origin }), 201);
  const page = await browser.newPage();
  await page.clock.install();
  await page.goto(origin);
  await page.evaluate(`
    window.log = [];
    const note = (name) => (told) => window.log.push({ name, ...told });
    Assay.open({
      verificationUrl: ${JSON.stringify(session.verification_url)},
      onReady: note("ready"), onChange: note("change"), onDone: note("done"), onFailure: note("failure"),
    });`);
  await until("the frame is ready", async () => (await toldTo(page)).some(({ name }) => name === "ready"));
  return { page, frame: page.frames()[1] ?? assert.fail("no frame"), sessionId: session.id };
}

test("a frame that is ready stays, long after the time in which it had to be", async () => {
  const { page } = await openFrame();
  await page.clock.fastForward("05:00");
  assert.equal(await page.locator("iframe").count(), 1);
  assert.ok(!(await toldTo(page)).some(({ name }) => name === "failure"));
  await page.close();
});

test("the page is told once that a verification is done, however often the frame says so", async () => {
  const { page, frame, sessionId } = await openFrame();
  for (const step of ["done", "done", "last"])
    await frame.evaluate(
      `parent.postMessage(${JSON.stringify({ assay: 1, session: sessionId, type: "state", status: "succeeded", step })}, "*")`,
    );
  await until("the last state is told", async () => (await toldTo(page)).some(({ step }) => step === "last"));
  const done = (await toldTo(page)).filter(({ name }) => name === "done");
  assert.deepEqual(
    done.map(({ status, step }) => [status, step]),
    [["succeeded", "done"]],
  );
  await page.close();
});
