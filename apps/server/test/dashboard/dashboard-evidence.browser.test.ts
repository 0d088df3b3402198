import assert from "node:assert/strict";
import test from "node:test";
import { runDevice } from "@assay/device/run-device";
import { virtualPassport } from "@assay/device/virtual-passport";
import { expectData, signUpOwner } from "../support/api.ts";
import { checkAccessibility, keepLooks, openBrowser } from "../support/browser.ts";
import { button, faults, goInside, heading, openDashboard } from "../support/dashboard.ts";
import { startTestService } from "../support/service.ts";
import { testDocument } from "../support/verify-device.ts";

const { url, api, clock } = await startTestService();
const browser = await openBrowser();
const owner = await signUpOwner(api);

async function verified(body: Record<string, unknown>): Promise<string> {
  const session = expectData(await owner.api.post("/v1/sessions", body), 201);
  const chip = virtualPassport(testDocument("passport-no-chip-proof", clock.now()));
  await runDevice({ verificationUrl: session.verification_url, chip });
  return session.id;
}

test("a session's page tells in words what its success rests on", async () => {
  const id = await verified({ locale: "fr" });
  const { page, problems } = await openDashboard(browser, url, { token: owner.token, width: 320 });
  await page.goto(`${url}/dashboard/sessions/${id}`);
  await page.getByRole("heading", { name: "Evidence" }).waitFor();
  await page.getByText("Clone not ruled out").waitFor();
  await page.getByText("Not revoked (current list checked).").waitFor();
  await page.getByText("If supported").first().waitFor();
  await page.getByText("French", { exact: true }).waitFor();
  await checkAccessibility(page);
  await keepLooks(page, "dashboard-evidence");
  assert.deepEqual(faults(problems), []);
  await page.context().close();
});

test("a session that failed for want of what is required says so, and shows no evidence", async () => {
  const id = await verified({ requirements: { clone_detection: "required" } });
  const { page, problems } = await openDashboard(browser, url, { token: owner.token });
  await page.goto(`${url}/dashboard/sessions/${id}`);
  await page.getByText("The chip does not support clone detection.").waitFor();
  await page.getByText("Unmet requirement").waitFor();
  assert.equal(await page.getByRole("heading", { name: "Evidence" }).count(), 0);
  assert.deepEqual(faults(problems), []);
  await page.context().close();
});

test("requirements and the language are chosen on the page that creates a session", async () => {
  const { page, problems } = await openDashboard(browser, url, { token: owner.token });
  await page.goto(`${url}/dashboard/sessions/new`);
  await heading(page, "Create session");
  await page.getByText("More options").click();
  await page.getByLabel("Clone detection").selectOption("required");
  await page.getByLabel("Language", { exact: true }).selectOption("de");
  await checkAccessibility(page, "structure");
  await button(page, "Create session").click();
  await page.getByRole("img", { name: "QR code of the verification link" }).waitFor();
  const [session] = expectData<{ requirements: unknown; locale: unknown }[]>(
    await owner.api.get("/v1/sessions"),
  );
  assert.deepEqual(session?.requirements, {
    clone_detection: "required",
    revocation: "preferred",
    binding: "preferred",
  });
  assert.equal(session?.locale, "de");
  assert.deepEqual(faults(problems), []);
  await page.context().close();
});

test("methods are chosen on the page that creates a session, and no choice is the default", async () => {
  const { page, problems } = await openDashboard(browser, url, { token: owner.token });
  const created = async () => {
    await button(page, "Create session").click();
    await page.getByRole("img", { name: "QR code of the verification link" }).waitFor();
    const [session] = expectData<{ methods: unknown; contract_version: unknown }[]>(
      await owner.api.get("/v1/sessions"),
    );
    return [session?.methods, session?.contract_version];
  };
  await page.goto(`${url}/dashboard/sessions/new`);
  await heading(page, "Create session");
  assert.deepEqual(await created(), [["document_chip"], 1]);
  await goInside(page, "/dashboard/sessions/new");
  await page.getByText("More options").click();
  await page.getByLabel("EU Digital Identity (PID) in a wallet").check();
  await checkAccessibility(page, "structure");
  assert.deepEqual(await created(), [["document_chip", "wallet_pid"], 2]);
  assert.deepEqual(faults(problems), []);
  await page.context().close();
});
