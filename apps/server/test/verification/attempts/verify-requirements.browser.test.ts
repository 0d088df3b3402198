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
import { startTestService } from "../../support/service.ts";
import { readTestPassport } from "../../support/verify-page.ts";

const { url, api } = await startTestService();
const browser = await openBrowser();
const partner = await createPartner(api);

async function createSession(body: Record<string, unknown>) {
  return expectData(await partner.api.post("/v1/sessions", body), 201) as {
    id: string;
    verification_url: string;
  };
}

/** A browser that asks for English. */
async function openPerson(address: string) {
  const { page, problems } = await openPage(browser, url);
  page.setDefaultTimeout(30_000);
  await page.goto(address);
  return { page, problems };
}

const language = (page: Page) => page.evaluate<string>("document.documentElement.lang");

async function look(page: Page, name: string): Promise<void> {
  await page.setViewportSize({ width: 320, height: 2400 });
  assert.equal(await isWiderThanScreen(page), false, `${name} scrolls sideways at 320 px`);
  // The colours are those of the same screens in verify.browser.test.ts.
  await checkAccessibility(page, "structure");
  await keepLooks(page, `verify-${name}`);
}

test("the page begins in the partner's language, with its reasons, until the person chooses another", async () => {
  const reasons = { de: "Wir verkaufen Wein.", es: "Vendemos vino." };
  const session = await createSession({
    locale: "de",
    share_fields: { age_over_18: { required: true, reason: "We sell wine.", reasons } },
  });
  const { page, problems } = await openPerson(session.verification_url);
  await page.getByText("Wir verkaufen Wein.").waitFor();
  assert.equal(await language(page), "de");
  await page.getByRole("combobox", { name: "Sprache" }).selectOption("es");
  await page.getByText("Vendemos vino.").waitFor();
  assert.equal(await language(page), "es");
  // French was not given, so the partner's plain words stand in for it.
  await page.getByRole("combobox", { name: "Idioma" }).selectOption("fr");
  await page.getByText("We sell wine.").waitFor();
  await page.reload();
  await page.getByText("We sell wine.").waitFor();
  assert.equal(await language(page), "fr");
  // Their choice also holds for another session that begins in another language.
  const next = await createSession({ locale: "es" });
  await page.goto(next.verification_url);
  await page.getByRole("heading", { level: 1 }).waitFor();
  assert.equal(await language(page), "fr");
  assert.deepEqual(problems, []);
  await page.context().close();
});

test("a device that takes over speaks the language that the person agreed in", async () => {
  const session = await createSession({ locale: "de" });
  const terms = expectData(await api.get(`/v1/verify/session/${session.id}/details`)).terms.version;
  const consent = { selected_field_keys: ["service_document_id"], terms_version: terms, language: "fr" };
  expectData(await api.post(`/v1/verify/session/${session.id}/consent`, consent), 201);
  const handoff = expectData(await api.post(`/v1/verify/session/${session.id}/handoff`), 201);
  const { page } = await openPerson(handoff.handoff_url);
  await page.getByRole("button", { name: "Oui, c’est moi" }).click();
  await page.getByRole("radio").first().waitFor();
  assert.equal(await language(page), "fr");
  await page.context().close();
});

test("the person learns beforehand what the document must prove, and afterwards why this one could not", async () => {
  const session = await createSession({
    requirements: { clone_detection: "required", revocation: "required" },
  });
  const { page, problems } = await openPerson(session.verification_url);
  const mustProve = page.getByText("The document must prove that it is the original");
  const mustBeListed = page.getByText(
    "The issuing country must confirm that the document’s signature is still valid",
  );
  await mustProve.waitFor();
  await mustBeListed.waitFor();
  await look(page, "requirements");
  await page.getByRole("checkbox", { name: "I agree to the check" }).check();
  await page.getByRole("button", { name: "Agree and continue" }).click();
  await page.getByRole("button", { name: "Choose a test passport" }).click();
  await mustProve.waitFor();
  for (const left of ["2 attempts left.", "1 attempt left.", null]) {
    await readTestPassport(page, "Valid passport that could be a copy");
    if (left === null) break;
    await page
      .getByRole("alert")
      .filter({ hasText: "This document cannot prove that it is the original" })
      .waitFor();
    await page.getByText(left).waitFor();
  }
  await page.getByRole("heading", { level: 1, name: "The verification did not succeed" }).waitFor();
  await page.getByRole("heading", { name: "This document cannot prove that it is the original" }).waitFor();
  await page.getByText("Nothing is wrong with the document").waitFor();
  await look(page, "requirement-unmet");
  assert.deepEqual(problems, []);
  await page.context().close();
});

test("where nothing is required the page says nothing of it", async () => {
  const session = await createSession({ requirements: { clone_detection: "preferred" } });
  const { page } = await openPerson(session.verification_url);
  await page.getByRole("checkbox", { name: "I agree to the check" }).waitFor();
  assert.equal(await page.getByText("must prove that it is the original").count(), 0);
  await page.context().close();
});
