import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import test from "node:test";
import { pageLanguages } from "@assay/contract/facts";
import type { Locator } from "playwright-core";
import { createPartner, expectData, signUpOwner } from "../support/api.ts";
import {
  checkAccessibility,
  isWiderThanScreen,
  keepLooks,
  openBrowser,
  watchHeadings,
} from "../support/browser.ts";
import { button, dashboardInTurn, faults, heading, openDashboard } from "../support/dashboard.ts";
import { openLive } from "../support/live.ts";
import { startTestService } from "../support/service.ts";
import { claimed, createSession, succeed } from "../support/sessions.ts";

const { url, api, core } = await startTestService();
const browser = await openBrowser();
const open = dashboardInTurn(browser, url);
const partner = await createPartner(api);
const token = partner.owner.token;

/** Runs in the browser, whose globals the server's types lack. */
type Window = { getComputedStyle(element: unknown): { backgroundColor: string; fill: string } };
const styleOf = (place: Locator) =>
  place.evaluate((element) => {
    const { backgroundColor, fill } = (globalThis as unknown as Window).getComputedStyle(element);
    return { backgroundColor, fill };
  });
const ground = async (place: Locator) => (await styleOf(place)).backgroundColor;
const fillOf = async (place: Locator) => (await styleOf(place)).fill;

test("who is not signed in is led to the sign-in and back; each heading comes with its title and the focus, and no error", async () => {
  const { page, problems } = await openDashboard(browser, url);
  const headings = await watchHeadings(page);
  await page.goto(`${url}/dashboard/domains`);
  await heading(page, "Sign in");
  assert.match(page.url(), /next=%2Fdashboard%2Fdomains$/);
  await page.waitForLoadState("networkidle");
  assert.deepEqual(problems, []);
  await page.getByLabel("Email").fill(partner.owner.email);
  await page.getByLabel("Password", { exact: true }).fill(partner.owner.password);
  await button(page, "Sign in").click();
  await heading(page, "Domains");
  assert.deepEqual(await headings(), [
    ["Sign in", "Sign in · Assay", false],
    ["Domains", "Domains · Sandbox · Assay", true],
  ]);
  assert.deepEqual(problems, []);
  await page.context().close();
});

test("without a network a page that was never opened leaves the one before as it is, and opens when there is one again", async () => {
  const { page, problems } = await openDashboard(browser, url, { token });
  await page.goto(`${url}/dashboard/sessions/new`);
  await page.getByLabel("Reference").fill("typed before");
  await page.context().setOffline(true);
  await page.getByText("You are offline. What you see may be old").waitFor();
  await page.getByRole("link", { name: "Domains" }).click();
  await page.getByText("You are offline, so the page could not be opened.").waitFor();
  assert.equal(await page.getByText("What you see may be old").count(), 0, "one message, not two");
  await heading(page, "Create session");
  assert.equal(await page.getByLabel("Reference").inputValue(), "typed before");
  assert.equal(page.url(), `${url}/dashboard/sessions/new`);
  await button(page, "Try again").click();
  await page.getByText("You are offline, so the page could not be opened.").waitFor();
  // Neither do parts of a page that load later.
  await page.keyboard.press("Control+k");
  await page.getByText("The search could not be loaded.").waitFor();
  assert.equal(await page.getByLabel("Reference").inputValue(), "typed before");

  await page.context().setOffline(false);
  await page.getByText("The page could not be opened. This one is as you left it.").waitFor();
  await button(page, "Try again").click();
  await heading(page, "Domains");
  assert.equal(await page.getByText("could not be opened").count(), 0);
  await page.keyboard.press("Control+k");
  await page.getByRole("dialog", { name: "Search" }).waitFor();
  assert.deepEqual(faults(problems), []);
  await page.context().close();
});

test("a list that failed without a network is there again by itself when there is one", async () => {
  await createSession(partner.api, { client_reference_id: "after the tunnel" });
  const { page, problems } = await open({ token });
  await page.goto(`${url}/dashboard/sessions`);
  await page.getByText("after the tunnel").waitFor();
  await page.context().setOffline(true);
  await page.getByRole("button", { name: /^Open/ }).click();
  await page.getByText("This could not be loaded.").waitFor();
  await page.context().setOffline(false);
  await page.getByText("after the tunnel").waitFor();
  assert.equal(await page.getByText("This could not be loaded.").count(), 0);
  assert.deepEqual(faults(problems), []);
});

test("with forced colours it can be seen where one is, what is chosen and what a colour stands for", async () => {
  const live = await createPartner(api);
  await openLive(core, live.organizationId);
  const session = await createSession(live.api);
  await succeed(core, session, await claimed(core, session));
  const { page, problems } = await open({ token: live.owner.token });
  await page.emulateMedia({ forcedColors: "active" });
  await page.goto(`${url}/dashboard?environment=sandbox`);
  await page.getByText("Sessions by day").waitFor();
  assert.equal(await page.title(), "Overview · Sandbox · Assay");
  const chosen = await ground(page.getByRole("button", { name: "Sandbox", pressed: true }));
  assert.notEqual(chosen, await ground(page.getByRole("button", { name: "Live", pressed: false })));
  assert.equal(await ground(page.getByRole("link", { name: "Overview", exact: true })), chosen);
  assert.notEqual(await ground(page.getByRole("link", { name: "Sessions", exact: true })), chosen);
  const swatch = (name: string) =>
    ground(page.getByRole("listitem").filter({ hasText: name }).locator("span").first());
  const swatches = [await swatch("Succeeded"), await swatch("Failed"), await swatch("Expired or cancelled")];
  assert.equal(new Set(swatches).size, 3, swatches.join());
  const bars = page.getByRole("listitem").filter({ hasText: "Opened" }).locator("rect");
  assert.notEqual(await fillOf(bars.first()), await fillOf(bars.last()));
  await keepLooks(page, "dashboard-forced-colours");

  await page.goto(`${url}/dashboard/sessions/new?environment=live`);
  await page.getByText("You are in live").waitFor();
  assert.equal(await page.title(), "Create session · Live · Assay");
  assert.equal(await ground(page.getByRole("button", { name: "Live", pressed: true })), chosen);
  const choice = (name: string) => ground(page.locator("label").filter({ hasText: name }).first());
  assert.equal(await choice("Age check"), chosen);
  assert.notEqual(await choice("Full identity"), chosen);
  await page.keyboard.press("Control+k");
  await page.getByRole("menuitem", { name: "Domains" }).waitFor();
  await page.keyboard.press("ArrowDown");
  assert.equal(await ground(page.getByRole("menuitem").first()), chosen);
  assert.deepEqual(faults(problems), []);
});

test("deliveries that failed are red, those that wait amber, and the banner counts the results that were lost", async () => {
  const own = await createPartner(api);
  const body = { url: "https://example.com/hook", name: "No key" };
  expectData(await own.api.post("/v1/webhooks/endpoints", body), 201);
  const { page, problems } = await open({ token: own.owner.token });
  for (const times of [1, 2]) {
    const session = await createSession(own.api);
    await succeed(core, session, await claimed(core, session));
    await page.goto(`${url}/dashboard`);
    await page.getByText(times === 1 ? "1 result was lost." : "2 results were lost.").waitFor();
    const bar = async (name: string) =>
      fillOf(page.getByRole("listitem").filter({ hasText: name }).locator("rect").last());
    await page.getByText("Retrying").first().waitFor();
    const [delivered, waiting, failed] = [await bar("Delivered"), await bar("Retrying"), await bar("Failed")];
    // The tokens of the light scheme: good, warn, bad.
    assert.deepEqual(
      [delivered, waiting, failed],
      ["rgb(28, 107, 69)", "rgb(122, 74, 0)", "rgb(155, 34, 38)"],
    );
  }
  assert.deepEqual(faults(problems), []);
});

test("a session is found by the beginning of its reference, in the search and in the list, whose export has the same filters", async () => {
  const own = await createPartner(api);
  for (const reference of ["booking-1", "booking-2", "order-1", "=cmd()", "booking%"])
    await createSession(own.api, {
      client_reference_id: reference,
      share_fields: { family_name: { required: true, reason: "secret reason" } },
    });
  const { page, problems } = await open({ token: own.owner.token });
  await page.goto(`${url}/dashboard/sessions`);
  await page.getByText("order-1").waitFor();
  await page.getByRole("button", { name: "All 5" }).waitFor();
  const exported = async () => {
    const download = page.waitForEvent("download");
    await button(page, "Export").click();
    return readFile(await (await download).path(), "utf8");
  };
  const whole = await exported();
  assert.match(
    whole,
    /^\ufeff"id","reference","status",.*\r\n"vs_\w+","booking%","created",,"document_chip",/,
  );
  assert.equal(whole.trim().split("\r\n").length, 6);
  assert.match(whole, /,"'=cmd\(\)",/, "no formula");
  assert.doesNotMatch(
    whole,
    /verify\/|family_name|secret reason/,
    "no link, and nothing about what is shared",
  );

  const rows = page.getByRole("table").locator("tbody tr");
  await page.getByLabel("Reference").fill("booking%");
  await rows.nth(1).waitFor({ state: "detached" });
  await rows.first().waitFor();
  assert.deepEqual(
    await rows.getByRole("link").allTextContents(),
    ["booking%"],
    "no sign stands for another",
  );
  await page.getByLabel("Reference").fill("booking-");
  await rows.nth(1).waitFor();
  assert.deepEqual(await rows.getByRole("link").allTextContents(), ["booking-2", "booking-1"]);
  assert.equal((await exported()).trim().split("\r\n").length, 3, "what the filters leave, and no more");
  await checkAccessibility(page, "structure");
  await keepLooks(page, "dashboard-sessions-beginning");
  await button(page, "Failed").click();
  await page.getByText("No results.").waitFor();
  await page.keyboard.press("Control+k");
  await page.getByRole("searchbox").fill("booki");
  await page.getByRole("menuitem", { name: /^booking-2/ }).click();
  await heading(page, "booking-2");
  // Earlier results are offered again, in this tab and until the user signs out.
  await page.keyboard.press("Control+k");
  await page.getByRole("menuitem", { name: "booki", exact: true }).click();
  await page.getByRole("menuitem", { name: /^booking-1/ }).waitFor();
  await page.keyboard.press("Escape");
  assert.equal(await page.evaluate("JSON.stringify(localStorage).includes('booki')"), false);
  await button(page, "Sign out").click();
  await heading(page, "Sign in");
  assert.equal(await page.evaluate("JSON.stringify(sessionStorage).includes('booki')"), false);
  assert.deepEqual(faults(problems), []);
});

test("on the way back from a session the list is as long as it was, and at the same place", async () => {
  const own = await createPartner(api);
  for (let number = 1; number <= 60; number += 1)
    await createSession(own.api, { client_reference_id: `row-${number}` });
  const { page, problems } = await open({ token: own.owner.token });
  await page.goto(`${url}/dashboard/sessions`);
  const rows = page.getByRole("table").locator("tbody tr");
  await rows.nth(24).waitFor();
  await button(page, "Show more").click();
  await rows.nth(49).waitFor();
  await button(page, "Show more").click();
  await rows.nth(59).waitFor();
  const row = page.getByRole("link", { name: "row-5", exact: true });
  await row.scrollIntoViewIfNeeded();
  const place = await page.evaluate<number>("scrollY");
  assert.ok(place > 1000, String(place));
  await row.click();
  await heading(page, "row-5");
  assert.equal(await page.evaluate("scrollY"), 0, "a new page begins at its top");
  await page.goBack();
  await rows.nth(59).waitFor();
  await page.waitForFunction(`Math.abs(scrollY - ${place}) < 3`);
  assert.deepEqual(faults(problems), []);
});

test("an unknown session is one page that says so, and offers to look in the other environment", async () => {
  const own = await createPartner(api);
  await openLive(core, own.organizationId);
  const trial = await createSession(own.api, { client_reference_id: "in the sandbox" });
  const { page, problems } = await open({ token: own.owner.token });
  for (const id of ["vs_cut-off", "x"]) {
    await page.goto(`${url}/dashboard/sessions/${id}?environment=live`);
    await heading(page, "Session not found");
    await page.getByText("It may be cut off.").waitFor();
    assert.equal(await page.getByRole("alert").count(), 0);
    assert.equal(await page.getByRole("button", { name: /^Look in/ }).count(), 0);
  }
  await page.goto(`${url}/dashboard/sessions/${trial}?environment=live`);
  await heading(page, "Session not found");
  assert.equal(await page.getByRole("alert").count(), 0);
  await checkAccessibility(page, "structure");
  await keepLooks(page, "dashboard-session-unknown");
  await button(page, "Look in the sandbox").click();
  await heading(page, "in the sandbox");
  await page.getByRole("button", { name: "Sandbox", pressed: true }).waitFor();
  assert.deepEqual(faults(problems), []);
});

test("a newcomer creates and opens the first session with one press and no key, and its page tells how far it has come", async () => {
  const owner = await signUpOwner(api);
  const { page, problems } = await open({ token: owner.token });
  await page.goto(`${url}/dashboard`);
  await keepLooks(page, "dashboard-first-step");
  const opening = page.waitForEvent("popup");
  await button(page, "Create a test session").click();
  const person = await opening;
  await heading(page, "Verification");
  const id = page.url().split("/").at(-1) ?? "";
  await person.waitForURL(`${url}/verify/${id}`);
  const steps = page
    .getByRole("listitem")
    .filter({ hasText: /^(?:Done|In progress|Waiting|Failed|Not yet):/ });
  const told = async () =>
    (await steps.allTextContents()).map((text) => /^(.*?:[A-Z][a-z ]+[a-z])/.exec(text)?.[1] ?? text);
  await steps.filter({ hasText: "In progress:Agreed" }).waitFor();
  await person.close();
  assert.deepEqual((await told()).slice(2), [
    "In progress:Agreed",
    "Not yet:Chip read",
    "Not yet:Face matched",
    "Not yet:Webhook",
  ]);
  // The page may write to the clipboard, but the test may not read it.
  await page.evaluate("void (navigator.clipboard.writeText = async (text) => void (window.copied = text))");
  await button(page, "Copy link").click();
  await page.getByText("Copied.").waitFor();
  assert.equal(await page.evaluate<string>("window.copied"), `${url}/verify/${id}`);
  await keepLooks(page, "dashboard-session-new-born");
  await succeed(core, id, await claimed(core, id));
  await page.getByText("Succeeded", { exact: true }).first().waitFor();
  await steps.filter({ hasText: "Done:Face matched" }).waitFor();
  assert.deepEqual((await told()).slice(3), ["Done:Chip read", "Done:Face matched", "Not yet:Webhook"]);
  assert.equal(await button(page, "Copy link").count(), 0, "a link that is used up");
  await keepLooks(page, "dashboard-session-succeeded");
  await button(page, "JSON").click();
  await page.getByRole("region", { name: "JSON" }).getByText(`"id": "${id}"`).waitFor();
  assert.ok(page.url().endsWith("?view=json"));
  assert.deepEqual(faults(problems), []);
});

test("full identity is a row for each field; a reason is edited in its row, or the same for all", async () => {
  const { page, problems } = await open({ token });
  await page.goto(`${url}/dashboard/sessions/new`);
  await page.getByText("Full identity").click();
  await button(page, "Edit the reason: Nationality").click();
  const nationality = page.getByLabel("Reason: nationality");
  assert.equal(await nationality.inputValue(), "The law requires it.");
  await nationality.fill("Our own reason");
  await page.getByText('"reason": "Our own reason"').waitFor();
  await checkAccessibility(page, "structure");
  await keepLooks(page, "dashboard-session-new-identity");
  await button(page, "Same reason for all").click();
  await page.getByLabel("Reason for all").fill("One for all");
  await button(page, "Create session").click();
  await heading(page, "Verification");
  const [session] = expectData<{ share_fields: Record<string, { reason: string; required: boolean }> }[]>(
    await partner.owner.api.get("/v1/sessions"),
  );
  const asked = Object.entries(session?.share_fields ?? {}).filter(([key]) => key !== "service_document_id");
  assert.equal(asked.length, 9);
  assert.deepEqual([...new Set(asked.map(([, { reason }]) => reason))], ["One for all"]);
  assert.equal(session?.share_fields.sex_marker?.required, false);
  assert.deepEqual(faults(problems), []);
});

test("a template is created, changed and deleted on its pages, and a session from it ends with a link to send", async () => {
  const { owner } = await createPartner(api);
  const { page, problems } = await open({ token: owner.token });
  await page.goto(`${url}/dashboard/templates`);
  await page.getByRole("link", { name: "Create template" }).first().click();
  await heading(page, "Create template");
  await page.getByLabel("Name", { exact: true }).fill("New <b>members</b>");
  await page.getByText("Name and date of birth").click();
  await button(page, "Edit the reason: Family name").click();
  await page.getByLabel("Reason: family name").fill("For your card.");
  await page.getByText("Translations").click();
  await page.getByLabel("Add a language").selectOption("de");
  await page.getByLabel("German").fill("Für Ihre Karte.");
  await checkAccessibility(page, "structure");
  await keepLooks(page, "dashboard-template-new");
  await page.setViewportSize({ width: 320, height: 900 });
  assert.equal(await isWiderThanScreen(page), false);
  await page.setViewportSize({ width: 1440, height: 900 });
  await button(page, "Create template").click();
  await heading(page, "New <b>members</b>");

  const [made] = expectData<any>(await owner.api.get("/v1/templates"));
  assert.deepEqual(made.share_fields.family_name, {
    required: true,
    reason: "For your card.",
    reasons: { de: "Für Ihre Karte." },
  });
  assert.equal(Object.keys(made.share_fields.given_names.reasons).length, pageLanguages.length - 1);
  // A reason that is no longer the preset's loses the preset's translations.
  await button(page, "Edit the reason: Given names").click();
  await page.getByLabel("Reason: given names").fill("For the letter.");
  await page.getByText("More options").click();
  await page.getByLabel("Return URL").fill("https://shop.example.com/done");
  await button(page, "Save").click();
  await page.getByText("Template saved.").waitFor();
  const changed = expectData(await owner.api.get(`/v1/templates/${made.id}`));
  assert.deepEqual(changed.share_fields, {
    ...made.share_fields,
    given_names: { required: true, reason: "For the letter." },
  });
  assert.deepEqual([changed.redirect_url, changed.methods], ["https://shop.example.com/done", null]);
  await keepLooks(page, "dashboard-template");

  await page.getByRole("link", { name: "New session" }).click();
  await page.getByText('"template": "New <b>members</b>"').waitFor();
  await page.getByLabel("Template").selectOption("None");
  await page.getByText('"age_over_18"').waitFor();
  await page.getByLabel("Template").selectOption("New <b>members</b>");
  await page.getByText('"template": "New <b>members</b>"').waitFor();
  await page.getByLabel("Reference").fill("order-12");
  await keepLooks(page, "dashboard-session-from-template");
  await button(page, "Create session").click();
  await page.getByRole("img", { name: "QR code of the verification link" }).waitFor();
  const [session] = expectData<any>(await owner.api.get("/v1/sessions"));
  assert.deepEqual([session.template_id, session.client_reference_id], [made.id, "order-12"]);
  await page.getByText("In 26 more languages").waitFor();
  const mail = new URL((await page.getByRole("link", { name: "Send by email" }).getAttribute("href")) ?? "");
  assert.equal(mail.protocol, "mailto:");
  assert.ok(mail.searchParams.get("body")?.includes(`\n${session.verification_url}\n`));
  await keepLooks(page, "dashboard-session-to-send");

  await page.goto(`${url}/dashboard/templates/${made.id}`);
  await button(page, "Delete").click();
  await button(page, "Delete template").click();
  await page.getByText("A template holds requested data").waitFor();
  await page.goto(`${url}/dashboard/templates/${made.id}`);
  await heading(page, "Template not found");
  assert.deepEqual(faults(problems), []);
});

test("a form says in the page's own words what is wrong with a field, and goes to it", async () => {
  const { page, problems } = await open();
  await page.goto(`${url}/dashboard/sign-up`);
  const notice = page.getByRole("alert");
  await button(page, "Create account").click();
  await notice.getByText("“Your name” is required.").waitFor();
  await page.getByLabel("Your name").fill("Ada");
  await page.getByLabel("Email").fill("ada");
  await button(page, "Create account").click();
  await notice.getByText("“Email” is not a valid email address.").waitFor();
  await page.getByLabel("Email").fill("ada@example.com");
  const password = page.getByLabel("Password", { exact: true });
  await password.fill("short");
  await button(page, "Create account").click();
  await notice.getByText("“Password” must have at least 10 characters.").waitFor();
  await page.locator("[name=password][aria-invalid=true]:focus").waitFor();
  await checkAccessibility(page);
  await keepLooks(page, "dashboard-sign-up-short");
  await page.goto(`${url}/dashboard/sign-up`);
  assert.deepEqual(faults(problems), []);
});

test("the logo has one place: a file, or the address of one, in the card of the look", async () => {
  const own = await createPartner(api);
  const { page, problems } = await open({ token: own.owner.token });
  await page.goto(`${url}/dashboard/settings`);
  const look = page.locator("section").filter({ has: page.getByRole("heading", { name: "Branding" }) });
  await look.locator("[type=file]").waitFor();
  await look.getByText("Use an image URL").click();
  assert.equal(await page.locator("[name=logo_url], [type=file]").count(), 2);
  await look.getByLabel("Logo URL").fill("https://example.com/logo.png");
  await look.getByRole("button", { name: "Save", exact: true }).click();
  await page.getByText("Branding saved.").waitFor();
  // The form of the profile does not change it.
  const profile = page.locator("section").filter({ has: page.getByRole("heading", { name: "Profile" }) });
  await profile.getByRole("button", { name: "Save", exact: true }).click();
  await page.getByText("Profile saved.").waitFor();
  const [organization] = expectData<{ logo_url: string }[]>(await own.owner.api.get("/v1/auth/orgs"));
  assert.equal(organization?.logo_url, "https://example.com/logo.png");
  assert.deepEqual(faults(problems), []);
});

test("the dashboard speaks the language of the browser, and the one that is chosen from then on", async () => {
  for (const [locale, language, other, words] of [
    [
      "de-DE",
      "de",
      ["fr", "Vue d’ensemble", "Domaines"],
      {
        signIn: "Anmelden",
        email: "E-Mail-Adresse",
        password: "Passwort",
        wrong: "E-Mail-Adresse oder Passwort ist falsch.",
        overview: "Übersicht",
        picker: "Sprache",
      },
    ],
    [
      "fr-CA",
      "fr",
      ["de", "Übersicht", "Domains"],
      {
        signIn: "Se connecter",
        email: "E-mail",
        password: "Mot de passe",
        wrong: "L’e-mail ou le mot de passe est incorrect.",
        overview: "Vue d’ensemble",
        picker: "Langue",
      },
    ],
  ] as const) {
    const { page, problems } = await openDashboard(browser, url, { locale });
    const isIn = async (tag: string) => assert.equal(await page.locator("html").getAttribute("lang"), tag);
    await page.goto(`${url}/dashboard/sign-in`);
    await heading(page, words.signIn);
    await isIn(language);
    await page.getByLabel(words.email).fill(partner.owner.email);
    await page.getByLabel(words.password, { exact: true }).fill("not the password");
    await button(page, words.signIn).click();
    await page.getByText(words.wrong).waitFor();
    await page.getByLabel(words.password, { exact: true }).fill(partner.owner.password);
    await button(page, words.signIn).click();
    await heading(page, words.overview);
    assert.equal(await page.title(), `${words.overview} · Sandbox · Assay`);
    await checkAccessibility(page, "structure");

    const [chosen, overview, domains] = other;
    await page.getByRole("combobox", { name: words.picker }).selectOption(chosen);
    await heading(page, overview);
    await page.reload();
    await heading(page, overview);
    await isIn(chosen);
    // A page whose words are not among the first.
    await page.getByRole("link", { name: domains, exact: true }).click();
    await heading(page, domains);
    assert.deepEqual(faults(problems), []);
    await page.context().close();
  }
});
