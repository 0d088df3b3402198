import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import test from "node:test";
import { runDevice } from "@assay/device/run-device";
import { virtualPassport } from "@assay/device/virtual-passport";
import { createVirtualChip } from "@assay/emrtd/virtual/virtual-chip";
import type { Page } from "playwright-core";
import { decodePng } from "../../../../../scripts/decode-png.ts";
import { createPartner, expectData } from "../../support/api.ts";
import {
  checkAccessibility,
  isWiderThanScreen,
  keepScreenshot,
  keepsScreenshots,
  looksAtAll,
  openBrowser,
  openPage,
  watchHeadings,
} from "../../support/browser.ts";
import { createAuthority } from "../../support/certificate.ts";
import { startDnsServer } from "../../support/dns-server.ts";
import { verifyDomain } from "../../support/domain.ts";
import { createLivePartner } from "../../support/live.ts";
import { drawPng } from "../../support/pictures.ts";
import { createReceivingEndpoint, decrypt, startReceiver } from "../../support/receiver.ts";
import { checkPicture } from "../../support/same-picture.ts";
import { startTestService } from "../../support/service.ts";
import { claimed, succeed } from "../../support/sessions.ts";
import { testDocument, trustTestCountry } from "../../support/verify-device.ts";
import { agree, heading, readTestPassport, unfold, untilTold } from "../../support/verify-page.ts";

const authority = createAuthority();
const dns = await startDnsServer();
const { url, api, core, clock } = await startTestService({
  env: {
    WEBHOOK_ALLOWED_PRIVATE_HOSTS: "127.0.0.1",
    DNS_RESOLVERS: dns.address,
  },
  webhooks: { ca: authority.certificate },
});
const browser = await openBrowser();
const partner = await createPartner(api);
await partner.owner.api.patch("/v1/auth/orgs", { name: "Harbour Hotel" });

const shareFields = {
  family_name: { required: true, reason: "To find your booking." },
  age_over_18: { required: true, reason: "The bar is for adults." },
  nationality_code: { required: false, reason: "Spares you the registration form." },
  date_of_birth: { required: false, reason: "A small present on your birthday." },
};

type Created = { id: string; verification_url: string };

async function createSession(body: Record<string, unknown> = {}, by = partner): Promise<Created> {
  return expectData(await by.api.post("/v1/sessions", { share_fields: shareFields, ...body }), 201);
}

/** A separate browser for the person, in English. The page must have logged no error by the end. */
async function openPerson(address: string, options: { locale?: string } = {}) {
  const { page, problems } = await openPage(browser, url);
  page.setDefaultTimeout(30_000);
  const headings = await watchHeadings(page);
  if (options.locale !== undefined) await page.addInitScript(languageScript(options.locale));
  await page.goto(address);
  return { page, problems, headings };
}

function languageScript(locale: string): string {
  return `Object.defineProperty(navigator, "languages", { get: () => ["${locale}"] });`;
}

/** A screen as high as the page is long, so that the picture shows all of it. */
async function showWhole(page: Page, width: number): Promise<void> {
  await page.setViewportSize({ width, height: 640 });
  const height = await page.evaluate<number>("document.documentElement.scrollHeight");
  await page.setViewportSize({ width, height: Math.min(height, 4000) });
}

/** The screens that most people see, and in which nothing is by chance. */
const comparedScreens = new Set(["consent-verified", "face-simulated", "succeeded", "failed-chip"]);

/**
 * Together they have every part of the page. The contrast of the parts is also checked in both schemes by
 * `gallery.browser.test.ts`, so the other screens are checked without it.
 */
const contrastScreens = new Set([
  "consent-verified",
  "handoff",
  "choose-passport",
  "try-failed",
  "access-form",
  "reading",
  "decline-ask",
  "succeeded",
  "receipt",
]);

/** Small and dark: fits and is accessible. Screenshots also show it large and light. */
async function look(page: Page, name: string, extent: "small" | "both" = "both"): Promise<void> {
  await page.setViewportSize({ width: 320, height: 900 });
  await page.emulateMedia({ colorScheme: "dark" });
  assert.equal(await isWiderThanScreen(page), false, `${name} scrolls sideways at 320 px`);
  await checkAccessibility(page, looksAtAll || contrastScreens.has(name) ? "all" : "structure");
  if (looksAtAll) {
    await page.setViewportSize({ width: 1440, height: 900 });
    await page.emulateMedia({ colorScheme: "light" });
    await checkAccessibility(page);
    await page.setViewportSize({ width: 320, height: 900 });
    await page.emulateMedia({ colorScheme: "dark" });
  }
  if (comparedScreens.has(name)) await checkPicture(page, `verify-${name}`);
  if (!keepsScreenshots) return;
  for (const width of extent === "small" ? [320] : [320, 390, 1440])
    for (const colorScheme of ["dark", "light"] as const) {
      await page.emulateMedia({ colorScheme });
      await showWhole(page, width);
      await keepScreenshot(page, `verify-${name}-${width}-${colorScheme}`);
    }
}

/** What the scanner of the Android app reads in a picture of the page. */
async function readCode(page: Page): Promise<string | null> {
  const reader = new URL("../../../../android/assets/qr-code.js", import.meta.url).href;
  const { width, height, rgb } = decodePng(await page.screenshot({ fullPage: true }), 4_000_000);
  const light = Uint8Array.from({ length: width * height }, (_, at) => rgb[at * 3 + 1] ?? 0);
  return (await import(reader)).readQrCode({ width, height, light });
}

/** A host of logos that answers with this one: dark shapes on nothing, wider than high, as most logos are. */
async function startLogoHost(status: number): Promise<string> {
  const host = await startReceiver(authority);
  const logo = drawPng(300, 200, (x, y) => {
    const inSail = x > 40 && x < 150 && y < 150 && y > 150 - (x - 40) * 1.3;
    const inHull = y >= 160 && y < 195 && x > 10 + (y - 160) && x < 290 - (y - 160);
    return inSail || inHull ? [24, 48, 92, 255] : [0, 0, 0, 0];
  });
  host.answerWith((_received, response) => {
    response.writeHead(status).end(logo);
    return null;
  });
  return `https://127.0.0.1:${host.port}/logo.png`;
}

test("from the link to the decrypted webhook, with a reload at every step: consent, test passport, face, outcome, receipt, withdrawal", async () => {
  const receiver = await startReceiver(authority);
  const own = await createPartner(api);
  await own.owner.api.patch("/v1/auth/orgs", {
    name: "Harbour Hotel",
    website_url: "https://harbour.example.com",
    logo_url: await startLogoHost(200),
  });
  await own.owner.api.post("/v1/auth/orgs/business-details", {
    business_name: "Harbour Hotel GmbH",
    business_jurisdiction: "DE",
    business_registration_number: "HRB 4711",
  });
  await verifyDomain(own.owner, dns, "harbour.example.com");
  await createReceivingEndpoint(own.api, receiver.url);
  const session = await createSession({ redirect_url: "http://localhost:9/booked?room=7" }, own);
  const { page, problems } = await openPerson(session.verification_url);

  await heading(page, "Harbour Hotel asks you to verify your identity").waitFor();
  await page.getByText("example.com", { exact: true }).waitFor();
  await unfold(page, "Who is asking");
  await page.getByText("harbour.example.com", { exact: true }).waitFor();
  await page.getByText("Harbour Hotel GmbH").waitFor();
  await page.getByText("What you agree to").waitFor();
  assert.equal(await page.getByRole("checkbox", { name: "Nationality" }).isChecked(), false);
  const logoWidth = await page.locator("header img").evaluate(async (image) => {
    const logo = image as unknown as { decode(): Promise<void>; naturalWidth: number };
    await logo.decode();
    return logo.naturalWidth;
  });
  assert.equal(logoWidth, 300);
  await look(page, "consent-verified");
  await page.reload();
  await page.getByRole("button", { name: "Agree and continue" }).click();
  await page.getByText("Tick the box to say that you agree.").first().waitFor();
  await agree(page, ["Nationality"]);
  await look(page, "handoff");

  // The back button leaves the page, and coming back leads to the same step.
  await page.goto(`${url}/docs`);
  await page.goBack();
  await heading(page, "Continue on your phone").waitFor();
  await page.getByRole("button", { name: "Choose a test passport" }).click();
  await page.getByRole("radio", { name: /^Valid passport A/ }).waitFor();
  assert.equal(
    await page.evaluate("document.activeElement.textContent"),
    "Choose a test passport",
    "the focus follows the step",
  );
  await look(page, "choose-passport");
  await page.reload();
  await readTestPassport(page, "Valid passport A");
  await heading(page, "Now show your face").waitFor();
  await look(page, "face-simulated");
  await page.reload();
  await page.getByRole("button", { name: "Continue", exact: true }).click();
  await heading(page, "You are verified").waitFor();
  // Only the tab that saw it end redirects: a reload, or the way back from there, stays.
  await page.reload();
  await heading(page, "You are verified").waitFor();
  assert.equal(await page.getByText("Returning in").count(), 0);
  const back = new URL(
    (await page.getByRole("link", { name: "Back to Harbour Hotel" }).getAttribute("href")) ?? "",
  );
  assert.equal(back.searchParams.get("room"), "7");
  assert.equal(back.searchParams.get("session_id"), session.id);
  assert.equal(back.searchParams.get("status"), "succeeded");
  await look(page, "succeeded");

  await receiver.until(1);
  const { event } = await decrypt(receiver.received[0]?.body ?? "");
  assert.equal(event.type, "verification.session.succeeded");
  assert.equal(event.data.claims.family_name, "SPECIMEN");
  assert.equal(event.data.claims.age_over_18, true);
  assert.equal(event.data.claims.nationality_code, "UTO");
  assert.ok(!("date_of_birth" in event.data.claims), "what was not chosen is not shared");

  await unfold(page, "Your receipt");
  await page.getByRole("button", { name: "Show the receipt" }).click();
  await page.getByText("The signature is valid").waitFor();
  await page.getByText("You left out").waitFor();
  await look(page, "receipt");
  const downloading = page.waitForEvent("download");
  await page.getByRole("button", { name: "Download the receipt" }).click();
  const receipt = readFileSync(await (await downloading).path(), "utf8");
  assert.match(receipt, /^[\w-]+\.[\w-]+\.[\w-]+$/);

  await page.getByRole("button", { name: "Back", exact: true }).click();
  await unfold(page, "Withdraw your consent");
  await page.getByRole("button", { name: "Withdraw consent" }).click();
  await page.getByRole("button", { name: "Yes, withdraw" }).click();
  await heading(page, "You withdrew your consent").waitFor();
  await look(page, "withdrawn");
  assert.deepEqual(problems, []);
  await page.context().close();
});

test("a logo that does not come leaves the first letter of the name, in the same place", async () => {
  const own = await createPartner(api);
  await own.owner.api.patch("/v1/auth/orgs", { name: "Quayside", logo_url: await startLogoHost(500) });
  await verifyDomain(own.owner, dns, "quay.example");
  const session = await createSession({}, own);
  const { page, problems } = await openPerson(session.verification_url);
  const letter = page.getByText("Q", { exact: true });
  await letter.waitFor();
  await page.locator("header img").waitFor({ state: "detached" });
  await letter.waitFor();
  await look(page, "consent-without-logo", "small");
  assert.equal(problems.length, 1);
  assert.match(problems[0] ?? "", /404/);
  await page.context().close();
});

test("each failure of a document is explained with what to do and the tries left; the third ends it", async () => {
  const sessions = [
    [
      ["Expired passport", "The document has expired"],
      ["Copied chip \\(active", "The chip could not prove that it is the original"],
      ["Copied chip \\(chip", "The chip could not prove that it is the original"],
    ],
    [
      ["Passport with invalid data", "The data on the chip is incomplete or damaged"],
      ["Passport with altered data", "The document could not be confirmed as genuine"],
      ["Passport of a revoked signer", "The document could not be confirmed as genuine"],
    ],
  ] as const;
  for (const [index, documents] of sessions.entries()) {
    const session = await createSession();
    const { page, problems } = await openPerson(session.verification_url);
    await agree(page);
    await page.getByRole("button", { name: "Choose a test passport" }).click();
    for (const [number, [title, told]] of documents.entries()) {
      await readTestPassport(page, title);
      if (number === 2) {
        await heading(page, "The verification did not succeed").waitFor();
        await page.getByRole("heading", { name: told }).waitFor();
        await page.getByText("You can close this page.").waitFor();
        continue;
      }
      await untilTold(page, told);
      await page.getByText(number === 0 ? "2 attempts left." : "1 attempt left.").waitFor();
      const painted = await page.getByRole("alert").filter({ hasText: told }).getAttribute("class");
      assert.match(painted ?? "", /bg-warn-soft/, "as long as there are tries, it is a warning and no loss");
      if (index === 0 && number === 0) await look(page, "try-failed");
    }
    if (index === 0) await look(page, "failed-chip");
    const read = expectData(await partner.api.get(`/v1/sessions/${session.id}`));
    assert.equal(read.status, "failed");
    assert.equal(
      read.failure_code,
      index === 0 ? "document_chip_authentication_failed" : "document_authenticity_failed",
    );
    assert.deepEqual(problems, []);
    await page.context().close();
  }
});

test("each failure of the face is explained, the third ends it, and the page stays until the person goes back", async () => {
  for (const [title, told, code] of [
    ["Valid passport for a failed", "We could not see a person in front of the camera", "liveness_failed"],
    ["Valid passport of somebody", "Your face did not match the portrait", "selfie_face_mismatch"],
  ] as const) {
    const session = await createSession({ redirect_url: "http://localhost:9/booked" });
    const { page, problems } = await openPerson(session.verification_url);
    await agree(page);
    await page.getByRole("button", { name: "Choose a test passport" }).click();
    await readTestPassport(page, title);
    for (const left of ["2 attempts left.", "1 attempt left.", null]) {
      await page.getByRole("button", { name: "Continue", exact: true }).click();
      if (left !== null) {
        await untilTold(page, told);
        await page.getByText(left).waitFor();
      }
    }
    await heading(page, "The verification did not succeed").waitFor();
    await page.getByRole("heading", { name: told }).waitFor();
    assert.equal(await page.getByText("Returning in").count(), 0);
    if (code === "liveness_failed") await look(page, "failed-face");
    assert.equal(expectData(await partner.api.get(`/v1/sessions/${session.id}`)).failure_code, code);
    assert.deepEqual(problems, []);
    if (code === "selfie_face_mismatch") {
      const [back] = await Promise.all([
        page.waitForRequest(/^http:\/\/localhost:9\//),
        page.getByRole("link", { name: "Back to Harbour Hotel" }).click(),
      ]);
      const sent = new URL(back.url());
      const { return_code: code, ...rest } = Object.fromEntries(sent.searchParams);
      assert.deepEqual(rest, { session_id: session.id, status: "failed" });
      const { return_code_sha256: hash } = expectData(await partner.api.get(`/v1/sessions/${session.id}`));
      assert.equal(
        createHash("sha256")
          .update(code ?? "")
          .digest("hex"),
        hash,
      );
    }
    await page.context().close();
  }
});

test("what is agreed to is never hidden by the bar that agrees, and on a wide screen the button stands beside it", async () => {
  const { page } = await openPerson((await createSession()).verification_url);
  const button = page.getByRole("button", { name: "Agree and continue" });
  await button.waitFor();
  const bar = () => page.evaluate<string>("getComputedStyle(document.querySelector('form')).position");
  await page.setViewportSize({ width: 320, height: 568 });
  assert.equal(await bar(), "static", "a low screen");
  await page.setViewportSize({ width: 390, height: 844 });
  assert.equal(await bar(), "sticky", "a phone");
  const pair = async () => [
    await button.boundingBox(),
    await page.getByRole("button", { name: "No, cancel" }).boundingBox(),
  ];
  const [agrees, declines] = await pair();
  assert.equal(agrees?.y, declines?.y, "beside each other");
  await page.setViewportSize({ width: 1440, height: 900 });
  const box = await button.boundingBox();
  assert.ok(box !== null && box.y + box.height < 900, "seen without scrolling");
  // Forced colours remove backgrounds; the progress must still be visible.
  await page.emulateMedia({ forcedColors: "active" });
  const bars = await page.evaluate<string[]>(
    "[...document.querySelectorAll('ol .bar')].map((each) => getComputedStyle(each).backgroundColor)",
  );
  assert.equal(bars.length, 4);
  assert.notEqual(bars[0], bars[1]);
  await keepScreenshot(page, "verify-consent-forced-colours-1440");
  await showWhole(page, 320);
  await checkPicture(page, "verify-consent-forced");
  await page.context().close();
});

test("the name of the last step fits at 320 pixels also in Irish, and test passports read from left to right in Arabic", async () => {
  const session = await createSession();
  await succeed(core, session.id, await claimed(core, session.id));
  const ended = await openPerson(session.verification_url, { locale: "ga" });
  await heading(ended.page, "Tá d’aitheantas deimhnithe").waitFor();
  await ended.page.setViewportSize({ width: 320, height: 900 });
  assert.equal(await isWiderThanScreen(ended.page), false);
  await keepScreenshot(ended.page, "verify-succeeded-ga-320-light");
  await ended.page.context().close();

  const { page } = await openPerson((await createSession()).verification_url, { locale: "ar" });
  await page.locator("form input[type=checkbox]").last().check();
  await page.locator("form [type=submit]").click();
  await page.locator("main button").first().click();
  await page.getByRole("radio").first().waitFor();
  assert.equal(await page.getByRole("radio").count(), 3, "not all of them at once");
  const title = page.getByText("Valid passport", { exact: true }).first();
  assert.deepEqual([await title.getAttribute("dir"), await title.getAttribute("lang")], ["ltr", "en"]);
  await page.getByRole("button", { name: "عرض الكل (17)" }).click();
  assert.equal(await page.getByRole("radio").count(), 17);
  await page.context().close();
});

test("another device takes over with the link, goes on after a reload, and this page follows along", async () => {
  const session = await createSession();
  const { page, problems } = await openPerson(session.verification_url);
  await agree(page);
  const link = await page.getByLabel("Link for the other device").inputValue();
  assert.match(link, /#handoff=/);
  assert.equal(await readCode(page), link, "the reader app scans the same link");
  const device = await openPerson(link);
  await heading(device.page, "Did you start this yourself?").waitFor();
  await device.page.getByRole("heading", { name: "Harbour Hotel asks you" }).waitFor();
  await look(device.page, "started");
  assert.equal(expectData(await api.get(`/v1/verify/session/${session.id}/status`)).status, "created");
  await device.page.getByRole("button", { name: "Yes, I started this" }).click();
  await heading(device.page, "Choose a test passport").waitFor();
  assert.ok(!device.page.url().includes("handoff"), "the token does not stay in the address");
  await heading(page, "Continue on the other device").waitFor();
  await page.getByText("Reading the chip").first().waitFor();
  await look(page, "follow");

  const thief = await openPerson(link);
  await thief.page.getByRole("button", { name: "Yes, I started this" }).click();
  await heading(thief.page, "This code was already used").waitFor();
  await look(thief.page, "code-used");
  await thief.page.context().close();

  await readTestPassport(device.page, "Expired passport");
  await untilTold(device.page, "The document has expired");
  await page.getByText("2 attempts left.").waitFor();
  await device.page.reload();
  await readTestPassport(device.page, "Valid passport A");
  await heading(device.page, "Now show your face").waitFor();
  await page.getByText("Comparing the face").first().waitFor();
  for (const done of ["Other device connected", "Chip read", "Document checked"])
    await page.getByText(done).waitFor();
  assert.equal(
    await page.getByText("Reading the chip").count(),
    0,
    "what is done is not told as if it went on",
  );
  await device.page.getByRole("button", { name: "Continue", exact: true }).click();
  await device.page.getByText("You can put this device aside").waitFor();
  await look(device.page, "device-done");
  await heading(page, "You are verified").waitFor();
  assert.deepEqual([...problems, ...device.problems], []);
  await device.page.context().close();
  await page.context().close();
});

/** The page's sockets, to be cut by the test. */
const listSockets = `window.sockets = [];
  const Native = window.WebSocket;
  window.WebSocket = class extends Native {
    constructor(...given) {
      super(...given);
      window.sockets.push(this);
      this.addEventListener("open", () => { this.opened = true; });
    }
  };`;

/** The page's policy forbids waiting inside of it, because that evaluates text. */
async function untilSocketsOpened(page: Page, count: number): Promise<void> {
  for (let round = 0; round < 150; round++) {
    if (await page.evaluate<boolean>(`window.sockets.filter((socket) => socket.opened).length === ${count}`))
      return;
    await page.waitForTimeout(100);
  }
  assert.fail(`${count} sockets were not opened`);
}

test("a lost socket is opened again and the reading goes on; without an event stream the page asks", async () => {
  const session = await createSession();
  const { page } = await openPerson(session.verification_url);
  await page.route("**/events", (route) => route.abort());
  await page.addInitScript(listSockets);
  await page.reload();
  await agree(page);
  await page.getByRole("button", { name: "Choose a test passport" }).click();
  await page.getByRole("radio").first().waitFor();
  await page.evaluate("window.sockets[0].close()");
  await untilSocketsOpened(page, 2);
  await readTestPassport(page, "Valid identity card");
  await heading(page, "Now show your face").waitFor();
  await page.evaluate("window.sockets[1].close()");
  await untilSocketsOpened(page, 3);
  await page.getByRole("button", { name: "Continue", exact: true }).click();
  await heading(page, "You are verified").waitFor();

  const other = await createSession();
  await page.goto(other.verification_url);
  await agree(page);
  const device = await openPerson(await page.getByLabel("Link for the other device").inputValue());
  await device.page.getByRole("button", { name: "Yes, I started this" }).click();
  await heading(page, "Continue on the other device").waitFor();
  await device.page.context().close();
  await page.context().close();
});

/** Sets the visibility of the page, as when a phone is locked and unlocked. */
function seenAs(state: "hidden" | "visible"): string {
  return `Object.defineProperty(document, "visibilityState", { configurable: true, get: () => "${state}" });
    document.dispatchEvent(new Event("visibilitychange"));`;
}

test("the shell's chip transport reads the document with what is printed on it, also after the phone was locked", async () => {
  const session = await createSession();
  const document = testDocument("passport-valid", clock.now());
  const { mrzKey, ...keys } = document.chip;
  const chip = createVirtualChip({ ...keys, files: document.files, mrzKey });
  const { page, problems } = await openPage(browser, url);
  page.setDefaultTimeout(30_000);
  let commands = 0;
  let hold: { at: number; until: Promise<void> } | null = null;
  let locked = false;
  await page.exposeFunction("passOnToChip", async (hex: string) => {
    commands += 1;
    if (hold !== null && commands >= hold.at) await hold.until;
    if (locked) throw new Error("the tag was lost");
    return Buffer.from(await chip.transceive(Buffer.from(hex, "hex"))).toString("hex");
  });
  await page.addInitScript(listSockets);
  await page.addInitScript(`window.chipTransport = {
    maxCommandBytes: 261, maxResponseBytes: 258, extendedLength: false, cancel() {},
    antenna: { at: "bottom", fromTop: 0.8, fromLeft: 0.5, toldBy: "phone" },
    async transceive(command) {
      const hex = Array.from(command, (byte) => byte.toString(16).padStart(2, "0")).join("");
      const answer = await window.passOnToChip(hex);
      return Uint8Array.from(answer.match(/../g), (pair) => Number.parseInt(pair, 16));
    },
  };`);
  await page.goto(session.verification_url);
  await agree(page);
  await page.getByRole("button", { name: "Read the document here" }).click();
  await page.getByRole("button", { name: "Read the chip" }).click();
  await page.getByText("The document number has letters and digits only, up to 22.").waitFor();
  await look(page, "access-form");
  const date = (text: string, century: string) =>
    `${century}${text.slice(0, 2)}-${text.slice(2, 4)}-${text.slice(4, 6)}`;
  await page.getByLabel("Document number", { exact: true }).fill(mrzKey.documentNumber.toLowerCase());
  await page.getByLabel("Date of birth", { exact: true }).fill(date(mrzKey.dateOfBirth, "19"));
  await page.getByLabel("Date of expiry", { exact: true }).fill("2031-01-01");
  await page.getByRole("button", { name: "Read the chip" }).click();
  await untilTold(page, "The chip did not open.");
  // What was typed is still there; only the mistake has to be mended.
  await page.getByLabel("Date of expiry", { exact: true }).fill(date(mrzKey.dateOfExpiry, "20"));
  const { promise, resolve: letGo } = Promise.withResolvers<void>();
  hold = { at: commands + 60, until: promise };
  await page.getByRole("button", { name: "Read the chip" }).click();
  const bar = page.getByRole("progressbar", { name: "Reading the portrait" });
  await bar.waitFor();
  const [share, shown] = await page.evaluate<[number, string]>(
    "(({ value, parentElement }) => [value, parentElement.textContent])(document.querySelector('progress'))",
  );
  assert.ok(share > 0.3 && share < 0.75, `${share} of all is read in the middle of the portrait`);
  assert.match(shown, new RegExp(`portrait${Math.round(share * 100)}%`));
  // This phone reads at the lower end of its back, so that is where the picture lays the document.
  const [drawing, spot] = [page.locator(".drawing"), page.locator(".drawing-spot")];
  const [around, place] = [await drawing.boundingBox(), await spot.boundingBox()];
  assert.ok(around !== null && place !== null && place.y > around.y + around.height / 2);
  await look(page, "reading");
  // The phone is locked during the reading: the page is hidden, its socket dies, and the chip gets no power.
  await page.evaluate(seenAs("hidden"));
  locked = true;
  hold = null;
  letGo();
  await page.evaluate("for (const socket of window.sockets) socket.close()");
  await page.evaluate(seenAs("visible"));
  await untilTold(page, "Contact with the chip was lost.");
  await page.getByText("This didn’t count as an attempt.").waitFor();
  locked = false;
  await page.getByRole("button", { name: "Read the chip" }).click();
  await heading(page, "Now show your face").waitFor();
  assert.equal(expectData(await partner.api.get(`/v1/sessions/${session.id}`)).nfc_tries_used, 1);
  assert.deepEqual(problems, []);
  await page.context().close();
});

test("where only desks read, the page says so before anything is agreed to, shows no code, and goes on after a desk has read", async () => {
  const live = await createLivePartner(core, api);
  await live.owner.api.patch("/v1/auth/orgs", { name: "Quiet Bank" });
  const session = await createSession({}, live);
  const { page, problems } = await openPerson(session.verification_url);
  await heading(page, "Quiet Bank reads documents at a counter").waitFor();
  assert.equal(await page.getByRole("checkbox").count(), 0, "nothing is asked of somebody who is not there");
  await look(page, "counter");
  await page.getByRole("button", { name: "I am at the counter" }).click();
  await page.getByText("We could not confirm who this is").waitFor();
  await page.getByText("The counter of Quiet Bank: staff read the chip there").waitFor();
  await look(page, "consent-unverified");
  await agree(page);
  await heading(page, "Show your document at the counter").waitFor();
  assert.equal(await page.getByRole("img", { name: "QR code" }).count(), 0);
  await look(page, "counter-agreed");
  const device = await openPerson(await page.getByLabel("Link for the staff").inputValue());
  await heading(device.page, "Quiet Bank reads documents at a counter").waitFor();
  await look(device.page, "no-reader");
  // It cannot cancel, so it says where to, instead of asking.
  await device.page.getByRole("button", { name: "Cancel verification" }).click();
  const dialog = device.page.getByRole("dialog", { name: "Cancel on the page where you agreed" });
  await dialog.getByText("You can also simply close this page").waitFor();
  assert.equal(await dialog.getByRole("button", { name: "No, continue" }).count(), 0);
  await look(device.page, "cancel-elsewhere");
  await dialog.getByRole("button", { name: "Back" }).click();
  assert.equal(expectData(await live.api.get(`/v1/sessions/${session.id}`)).status, "created");

  // A person who is not at the counter goes back, and the partner gets the event.
  const away = await openPerson((await createSession({}, live)).verification_url);
  await away.page.getByRole("button", { name: "Back to Quiet Bank" }).click();
  await away.page.getByRole("button", { name: "Yes, cancel" }).click();
  await heading(away.page, "The verification was cancelled").waitFor();
  await away.page.context().close();

  await trustTestCountry({ core, clock });
  const read = await runDevice({
    verificationUrl: session.verification_url,
    consent: "given",
    chip: virtualPassport(testDocument("passport-valid", clock.now())),
  });
  assert.ok(read.kind === "face_elsewhere");
  const atDesk = await openPerson(read.url);
  await heading(atDesk.page, "Now show your face").waitFor();
  assert.equal(new URL(atDesk.page.url()).hash, "", "the token does not stay in the address");
  await look(atDesk.page, "face-live");
  await heading(page, "Show your face on the other device")
    .or(page.getByText("Show your face"))
    .first()
    .waitFor();
  assert.deepEqual([...problems, ...device.problems, ...atDesk.problems], []);
  await atDesk.page.context().close();
  await device.page.context().close();
  await page.context().close();
});

test("declining and cancelling end the session at once and lead back; an unknown link says so", async () => {
  const own = await createPartner(api);
  await own.owner.api.patch("/v1/auth/orgs", { name: "Quayside", support_email: "help@quay.example" });
  const session = await createSession({ redirect_url: "http://localhost:9/booked" }, own);
  const { page } = await openPerson(session.verification_url);
  await page.getByRole("button", { name: "No, cancel" }).click();
  await page.getByText("Quayside learns that you cancelled").waitFor();
  const moving = () =>
    page.evaluate<string>("getComputedStyle(document.querySelector('dialog[open]')).animationDuration");
  assert.equal(await moving(), "0s", "who wants no motion sees none");
  await page.emulateMedia({ reducedMotion: "no-preference" });
  const seconds = Number.parseFloat(await moving());
  assert.ok(seconds >= 0.15 && seconds <= 0.2, `a dialogue comes in ${seconds} s`);
  await page.emulateMedia({ reducedMotion: "reduce" });
  await look(page, "decline-ask", "small");
  await page.route("http://localhost:9/**", (route) => route.fulfill({ body: "The shop" }));
  await page.getByRole("button", { name: "Yes, cancel" }).click();
  await page.waitForURL(
    new RegExp(`^http://localhost:9/booked\\?session_id=${session.id}&status=cancelled&return_code=[\\w-]+$`),
  );
  assert.equal(expectData(await own.api.get(`/v1/sessions/${session.id}`)).status, "cancelled");
  // A person who returns sees what happened and whom to ask, and is not redirected again.
  await page.goBack();
  await heading(page, "The verification was cancelled").waitFor();
  await page.getByRole("link", { name: "help@quay.example" }).waitFor();
  await page.getByRole("link", { name: "Back to Quayside" }).waitFor();
  assert.equal(await page.getByText("Returning in").count(), 0);
  await look(page, "cancelled");

  const other = await createSession({}, own);
  await page.goto(other.verification_url);
  await page.getByRole("button", { name: "Agree and continue" }).waitFor();
  assert.equal(
    await page.locator("main div.arrives").count(),
    0,
    "what comes with the page is there at once",
  );
  await agree(page);
  await page.locator("main div.arrives").waitFor();
  await page.getByRole("button", { name: "Cancel verification" }).click();
  await page.getByRole("button", { name: "Yes, cancel" }).click();
  await heading(page, "The verification was cancelled").waitFor();
  await page.getByText("You can close this page.").waitFor();
  await page.goto(`${url}/verify/vs_${"0".repeat(64)}`);
  await heading(page, "This link does not lead to a verification").waitFor();
  await look(page, "not-found");
  await page.context().close();
});

test("the page speaks the language of the browser, and every other one when it is chosen", async () => {
  const session = await createSession();
  const { page, problems } = await openPerson(session.verification_url, { locale: "de-AT" });
  for (const [language, title] of [
    ["de", "Harbour Hotel bittet Sie, Ihre Identität zu bestätigen"],
    ["fr", "Harbour Hotel vous demande de vérifier votre identité"],
    ["es", "Harbour Hotel le pide que verifique su identidad"],
  ] as const) {
    if (language !== "de") await page.getByRole("combobox").selectOption(language);
    await heading(page, title).waitFor();
    assert.equal(await page.locator("html").getAttribute("lang"), language);
    await look(page, `consent-${language}`, "small");
  }
  await page.getByRole("checkbox").last().check();
  await page.getByRole("button", { name: "Aceptar y continuar" }).click();
  await page.getByRole("img").waitFor();
  for (const language of ["es", "fr", "de", "en"]) {
    await page.getByRole("combobox").selectOption(language);
    await page.locator(`html[lang=${language}]`).waitFor();
    assert.equal(await isWiderThanScreen(page), false, language);
  }
  await heading(page, "Continue on your phone").waitFor();
  assert.deepEqual(problems, []);
  await page.context().close();
});

// Last, because it moves the clock of the service.
test("a session whose time is over says so", async () => {
  const session = await createSession();
  const { page } = await openPerson(session.verification_url);
  await agree(page);
  clock.advance(61 * 60_000);
  await page.reload();
  await heading(page, "This link has expired").waitFor();
  await look(page, "expired");
  await page.context().close();
});

test("a person who did not start it stops before anything is read, and only the first browser brings a code back", async () => {
  const session = await createSession({ redirect_url: "http://localhost:9/booked" });
  const { page } = await openPerson(session.verification_url);
  await heading(page, "Harbour Hotel asks you to verify your identity").waitFor();
  const other = await openPerson(session.verification_url);
  await agree(page);
  const link = await page.getByLabel("Link for the other device").inputValue();
  const victim = await openPerson(link);
  await victim.page.getByRole("button", { name: "No, stop" }).click();
  await heading(victim.page, "You stopped in time").waitFor();
  assert.deepEqual(await victim.headings(), [
    ["Did you start this yourself?", "Did you start this yourself? – Verify your identity", false],
    ["You stopped in time", "You stopped in time – Verify your identity", true],
  ]);
  assert.equal(expectData(await api.get(`/v1/verify/session/${session.id}/status`)).status, "created");
  await page.getByRole("button", { name: "Choose a test passport" }).click();
  await readTestPassport(page, "Valid passport A");
  await page.getByRole("button", { name: "Continue", exact: true }).click();
  await heading(page, "You are verified").waitFor();
  const addressOf = (of: Page) =>
    of.getByRole("link", { name: "Back to Harbour Hotel" }).getAttribute("href");
  const plain = `http://localhost:9/booked?session_id=${session.id}&status=succeeded`;
  assert.equal(await addressOf(other.page), plain);
  assert.match((await addressOf(page)) ?? "", /&return_code=[\w-]{43}$/);
  await page.route("http://localhost:9/**", (route) => route.fulfill({ body: "The shop" }));
  await page.getByRole("link", { name: "Back to Harbour Hotel" }).click();
  await page.waitForURL(/return_code=/);
  // It is used up: the same browser does not send it a second time.
  await page.goto(session.verification_url);
  assert.equal(await addressOf(page), plain);
  for (const { page: opened } of [{ page }, other, victim]) await opened.context().close();
});

test("with one browser required the page shows no code for another device, and another browser is sent back", async () => {
  const session = await createSession({ requirements: { binding: "required" } });
  const { page, problems } = await openPerson(session.verification_url);
  await heading(page, "Harbour Hotel asks you to verify your identity").waitFor();
  const other = await openPerson(session.verification_url);
  await heading(other.page, "Continue where you began").waitFor();
  await look(other.page, "other-browser", "small");
  await agree(page);
  await page.getByRole("button", { name: "Choose a test passport" }).waitFor();
  assert.equal(await page.getByLabel("Link for the other device").count(), 0);
  await page.getByRole("button", { name: "Choose a test passport" }).click();
  await readTestPassport(page, "Valid passport A");
  await page.getByRole("button", { name: "Continue", exact: true }).click();
  await heading(page, "You are verified").waitFor();
  assert.deepEqual([...problems, ...other.problems], []);
  await other.page.context().close();
  await page.context().close();
});
