import assert from "node:assert/strict";
import test from "node:test";
import type { Page } from "playwright-core";
import { createPartner, expectData } from "../../support/api.ts";
import {
  checkAccessibility,
  isWiderThanScreen,
  keepLooks,
  openBrowser,
  openPage,
} from "../../support/browser.ts";
import { createLivePartner } from "../../support/live.ts";
import { startTestService } from "../../support/service.ts";
import { agree as agreeByApi } from "../../support/verify.ts";
import { heading } from "../../support/verify-page.ts";

const { url, api, clock, core } = await startTestService({ role: "api" });
const browser = await openBrowser();
const partner = await createPartner(api);
await partner.owner.api.patch("/v1/auth/orgs", { name: "Harbour Hotel" });

const button = (page: Page, name: string) => page.getByRole("button", { name, exact: true });
const statusOf = async (id: string) => expectData(await api.get(`/v1/verify/session/${id}/status`));

/** A browser that has asked the wallet, on the page of the test wallet. */
async function openTestWallet(method: "wallet_pid" | "wallet_age") {
  const fields = method === "wallet_age" ? ["age_over_18"] : ["family_name", "age_over_18"];
  const shareFields = Object.fromEntries(fields.map((key) => [key, { required: true, reason: "To know." }]));
  const { id } = expectData(
    await partner.api.post("/v1/sessions", { methods: [method], share_fields: shareFields }),
    201,
  );
  await agreeByApi(api, id, [...fields, "service_document_id"]);
  const { page, problems } = await openPage(browser, url);
  await page.clock.install({ time: clock.now() });
  const channel = method === "wallet_age" ? "age_link" : "redirect";
  // The cookie of the request belongs into this browser.
  const answer = await page.request.post(`${url}/v1/verify/session/${id}/wallet`, { data: { channel } });
  const { link } = (await answer.json()).data;
  await page.goto(`${url}/verify/${id}/test-wallet#${new URLSearchParams({ request: link })}`);
  return { id, page, problems };
}

test("the test wallet says what it is, who asks for what, and sends the person back when it has answered", async () => {
  const { id, page, problems } = await openTestWallet("wallet_pid");
  await heading(page, "Test wallet").waitFor();
  await page.getByText("This is a test wallet", { exact: true }).waitFor();
  await page.getByText("Harbour Hotel, through").waitFor();
  await page.getByText(/^x509_hash:/).waitFor();
  assert.equal(await page.getByRole("radio", { name: /^Identity \(PID\), as SD-JWT VC/ }).isChecked(), true);
  await page.getByText(/family_name, .*birthdate/).waitFor();
  assert.equal(await page.locator("html").getAttribute("lang"), "en");
  await checkAccessibility(page);
  await keepLooks(page, "test-wallet");
  await page.setViewportSize({ width: 320, height: 640 });
  assert.equal(await isWiderThanScreen(page), false);
  await page.getByRole("radio", { name: /^Identity \(PID\), as mdoc/ }).check();
  await button(page, "Share").click();
  await page.waitForURL(`${url}/verify/${id}`);
  await page.getByRole("heading", { level: 1, name: /verified/i }).waitFor();
  assert.equal((await statusOf(id)).status, "succeeded");
  assert.deepEqual(problems, []);
  await page.context().close();
});

test("a refusal leads back to the page, and a wallet that declines uses up no try", async () => {
  const refused = await openTestWallet("wallet_pid");
  await refused.page.getByRole("radio", { name: /^Revoked/ }).check();
  await button(refused.page, "Share").click();
  await refused.page.waitForURL(`${url}/verify/${refused.id}`);
  const { status, attempt } = await statusOf(refused.id);
  assert.deepEqual([status, attempt.refused.failure_code], ["in_progress", "document_authenticity_failed"]);
  await refused.page.context().close();
  const declined = await openTestWallet("wallet_age");
  await declined.page.getByRole("radio", { name: /^Proof of age, as mdoc/ }).waitFor();
  await button(declined.page, "Decline").click();
  await declined.page.waitForURL(`${url}/verify/${declined.id}`);
  assert.equal((await statusOf(declined.id)).attempt?.refused ?? null, null);
  await declined.page.context().close();
});

test("a link that is no request, or one that is over, is explained, with the way back", async () => {
  const { id, page } = await openTestWallet("wallet_pid");
  await heading(page, "Test wallet").waitFor();
  await button(page, "Share").waitFor();
  clock.advance(61_000);
  await page.reload();
  await page.getByText(/The request cannot be fetched \(HTTP 404\)/).waitFor();
  await page.getByRole("link", { name: "Back to the session" }).waitFor();
  await checkAccessibility(page, "structure");
  await page.goto("about:blank");
  await page.goto(`${url}/verify/${id}/test-wallet`);
  await page.getByText("This is not the link of a request.").waitFor();
  await page.context().close();
});

test("the test wallet answers no live session", async () => {
  const live = await createLivePartner(core, api);
  const { id } = expectData(await live.api.post("/v1/sessions"), 201);
  const { page } = await openPage(browser, url);
  const link = `haip-vp://?${new URLSearchParams({ client_id: "x", request_uri: `${url}/oid4vp/request/x` })}`;
  await page.goto(`${url}/verify/${id}/test-wallet#${new URLSearchParams({ request: link })}`);
  await page.getByText("This session is live. Only a real wallet can answer it.").waitFor();
  await page.context().close();
});
