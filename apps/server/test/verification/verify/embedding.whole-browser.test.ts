import assert from "node:assert/strict";
import test from "node:test";
import { gzipSync } from "node:zlib";
import type { FrameLocator, Page } from "playwright-core";
import { createPartner, expectData } from "../../support/api.ts";
import { checkAccessibility, isWiderThanScreen, keepScreenshot, openBrowser } from "../../support/browser.ts";
import { createAuthority } from "../../support/certificate.ts";
import { startPartnerPage } from "../../support/partner-page.ts";
import { startTestService } from "../../support/service.ts";
import { startShop } from "../../support/shop.ts";

const authority = createAuthority();
const { url, api, clock } = await startTestService({
  env: { WEBHOOK_ALLOWED_PRIVATE_HOSTS: "localhost" },
  webhooks: { ca: authority.certificate },
});
// The shop checks timestamps with the real time.
clock.set(new Date());
// A browser that refuses all storage to pages framed by another site, the strictest behaviour of any browser.
const browser = await openBrowser(["--test-third-party-cookie-phaseout"], { whole: true });
const { origin, foreign } = await startPartnerPage(url);
const partner = await createPartner(api);
await partner.owner.api.patch("/v1/auth/orgs", { name: "Harbour Hotel" });

type Created = { id: string; verification_url: string };

async function createSession(body: Record<string, unknown> = {}): Promise<Created> {
  return expectData(await partner.api.post("/v1/sessions", { embed_origin: origin, ...body }), 201);
}

const readSession = async ({ id }: Created) => ({
  ...expectData(await partner.api.get(`/v1/sessions/${id}`)),
  consentGiven: expectData(await api.get(`/v1/verify/session/${id}/status`)).consent_given,
});

/** The partner's page, before it shows anything. */
async function openShop(options: { at?: string; width?: number; script?: string } = {}) {
  const viewport = { width: options.width ?? 900, height: 900 };
  const context = await browser.newContext({ viewport, reducedMotion: "reduce" });
  const page = await context.newPage();
  page.setDefaultTimeout(20_000);
  if (options.script !== undefined) await page.addInitScript(options.script);
  const problems: string[] = [];
  page.on("console", (message) => {
    if (message.type() === "error") problems.push(message.text());
  });
  page.on("pageerror", (error) => problems.push(error.message));
  await page.goto(options.at ?? origin);
  return { page, problems, frame: page.frameLocator("iframe") };
}

/** The partner's own code. `log` gets the arguments of its callbacks, `messages` every message. */
async function open(page: Page, session: Created, container: string | null = null): Promise<void> {
  await page.evaluate(`
    window.log = [];
    window.messages = [];
    addEventListener("message", ({ origin, data }) => window.messages.push({ origin, data }));
    const note = (name) => (told) => window.log.push({ name, ...told });
    window.opened = Assay.open({
      verificationUrl: ${JSON.stringify(session.verification_url)},
      ...${JSON.stringify(container === null ? {} : { container })},
      onReady: note("ready"), onChange: note("change"), onDone: note("done"), onFailure: note("failure"), onClose: note("close"),
    });`);
}

type Told = { name: string; sessionId: string; status?: string; step?: string; reason?: string };
const toldTo = (page: Page) => page.evaluate<Told[]>("window.log");
/** The page's policy forbids how the library waits for a condition. */
async function until(page: Page, condition: string): Promise<void> {
  for (let look = 0; look < 400; look++) {
    if (await page.evaluate<boolean>(condition)) return;
    await page.waitForTimeout(50);
  }
  assert.fail(`never: ${condition}`);
}
const untilToldOf = (page: Page, name: string) =>
  until(page, `window.log.some((told) => told.name === ${JSON.stringify(name)})`);

type Place = FrameLocator | Page;
const heading = (at: Place, name: string) => at.getByRole("heading", { level: 1, name });
const agreeButton = (at: Place) => at.getByRole("button", { name: "Agree and continue" });

async function tick(at: Place): Promise<void> {
  await at.getByRole("checkbox", { name: "I agree to the check" }).check();
  await agreeButton(at).scrollIntoViewIfNeeded();
}

/** As long as a person looks before agreeing. The browser measures it, so no clock can be moved. */
const look = (page: Page, longerMs = 0) => page.waitForTimeout(1_300 + longerMs);
const glance = (page: Page) => page.waitForTimeout(700);

/** On a busy machine the browser reports late what is visible, so it presses until it counts. */
async function agreeIn(page: Page, at: Place): Promise<void> {
  await heading(at, "Harbour Hotel asks").waitFor();
  await glance(page);
  await tick(at);
  await pressUntilAgreed(page, at);
}

async function pressUntilAgreed(page: Page, at: Place, title = "Harbour Hotel asks"): Promise<void> {
  const box = at.getByRole("checkbox", { name: "I agree to the check" });
  for (let press = 0; press < 8; press++) {
    // People rest on a button before they press it. If the browser reports late, they must rest for longer.
    await agreeButton(at).hover();
    await look(page, press * 700);
    await agreeButton(at).click();
    const gone = await box.waitFor({ state: "detached", timeout: 2_000 }).then(
      () => true,
      () => false,
    );
    if (gone) return;
    // As the page requires: from its top, past all texts of the consent.
    await heading(at, title).scrollIntoViewIfNeeded();
    await look(page);
    for (const part of await at.locator("[data-must-be-seen]").all()) {
      await part.scrollIntoViewIfNeeded();
      await glance(page);
    }
    await agreeButton(at).scrollIntoViewIfNeeded();
  }
  assert.fail(`it was never agreed to; in sight by the browser: ${await sightNow(page)}`);
}

/** What the browser reports to the page about the visibility of its heading and its button. */
async function sightNow(page: Page): Promise<string> {
  const told = await page.frames()[1]?.evaluate(`new Promise((resolve) => {
    const watched = [document.querySelector("h1"), [...document.querySelectorAll("button")].find((b) => b.textContent.includes("Agree"))];
    const observer = new IntersectionObserver((entries) => resolve(entries.map((e) => [e.target.tagName, e.isVisible, e.intersectionRatio])), { trackVisibility: true, delay: 100 });
    for (const element of watched) if (element) observer.observe(element);
    setTimeout(() => resolve("nothing within two seconds"), 2000);
  })`);
  return JSON.stringify(told);
}

async function readPassport(at: Place): Promise<void> {
  await at.getByRole("radio", { name: /^Valid passport A/ }).check();
  await at.getByRole("button", { name: "Read this document" }).click();
  await heading(at, "Now show your face").waitFor();
}

test("the script has at most 4 kB, may be loaded by any page with its hash, and comes with types", async () => {
  const script = await fetch(`${url}/embed/v1.js`, { headers: { "accept-encoding": "gzip" } });
  assert.equal(script.headers.get("content-encoding"), "gzip");
  assert.equal(script.headers.get("access-control-allow-origin"), "*");
  assert.equal(script.headers.get("cross-origin-resource-policy"), "cross-origin");
  assert.match(script.headers.get("cache-control") ?? "", /^public, max-age=3600$/);
  const packed = gzipSync(await script.text(), { level: 9 }).length;
  assert.ok(packed <= 4096, `${packed} bytes`);
  const etag = script.headers.get("etag") ?? "";
  assert.equal((await fetch(`${url}/embed/v1.js`, { headers: { "if-none-match": etag } })).status, 304);
  assert.match(await (await fetch(`${url}/embed/v1.d.ts`)).text(), /declare const Assay/);
});

test("in a dialogue, with all storage refused: from the partner's page to the outcome and back, told in ids and states alone", async () => {
  const session = await createSession({ redirect_url: "http://localhost:9/never" });
  const { page, frame, problems } = await openShop();
  await open(page, session);
  await agreeIn(page, frame);
  const storage = "(() => { try { return typeof sessionStorage } catch (error) { return error.name } })()";
  assert.equal(await page.frames()[1]?.evaluate(storage), "SecurityError");
  await frame.getByRole("button", { name: "Choose a test passport" }).click();
  await readPassport(frame);
  await frame.getByRole("button", { name: "Continue", exact: true }).click();
  await heading(frame, "You are verified").waitFor();
  await untilToldOf(page, "done");
  assert.equal(await page.locator("iframe").count(), 1, "the person is still reading");
  await checkAccessibility(page);
  await keepScreenshot(page, "embed-dialogue-900-light");
  // Messages from elsewhere are ignored.
  const forged = { assay: 1, session: session.id, type: "finished" };
  await page.evaluate(`postMessage(${JSON.stringify(forged)}, "*")`);
  await frame.getByText("Returning in").first().waitFor();
  await frame.getByRole("button", { name: "Back to Harbour Hotel" }).click();
  await untilToldOf(page, "close");
  assert.equal(await page.locator("iframe, dialog").count(), 0);
  const told = await toldTo(page);
  // A step may be reported again.
  assert.deepEqual(
    [...new Set(told.map(({ name, status, step }) => [name, status, step].join(" ").trim()))],
    [
      "ready",
      "change created consent",
      "change created chip",
      "change in_progress chip",
      "change in_progress face",
      "change succeeded done",
      "done succeeded done",
      "close succeeded done",
    ],
  );
  const messages = await page.evaluate<{ origin: string; data: Record<string, unknown> }[]>(
    `window.messages.filter(({ origin }) => origin !== location.origin)`,
  );
  for (const { origin: from, data } of messages) {
    assert.equal(from, url);
    const { assay, session: about, type, ...rest } = data;
    assert.deepEqual([assay, about], [1, session.id]);
    const keys = { ready: [], finished: [], height: ["height"], state: ["status", "step"] };
    assert.deepEqual(Object.keys(rest).sort(), keys[type as keyof typeof keys], String(type));
  }
  assert.deepEqual(problems, []);
  await page.context().close();
});

test("inline the frame is as high as its page, up to the window, and the camera is passed on to it", async () => {
  // The stream is silent and the browser paints late: the page reports first that the person left.
  const script = `window.requestAnimationFrame = (callback) => setTimeout(callback, 500, 0);
    window.EventSource = class { addEventListener() {} close() {} };`;
  const { page, frame, problems } = await openShop({ width: 320, script });
  await open(page, await createSession(), "#place");
  await heading(frame, "Harbour Hotel asks").waitFor();
  await until(page, "document.querySelector('iframe').offsetHeight === innerHeight - 32");
  assert.equal(await isWiderThanScreen(page), false);
  const inner = page.frames()[1];
  assert.equal(await inner?.evaluate("document.featurePolicy.allowsFeature('camera')"), true);
  assert.equal(
    await inner?.evaluate("document.documentElement.scrollWidth > document.documentElement.clientWidth"),
    false,
  );
  await keepScreenshot(page, "embed-inline-320-light");
  // Declining with the keyboard ends it at once, and the embedding page is notified.
  await frame.getByRole("button", { name: "No, cancel" }).press("Enter");
  await frame.getByRole("button", { name: "Yes, cancel" }).press("Enter");
  await untilToldOf(page, "close");
  const told = await toldTo(page);
  assert.equal(told.find(({ name }) => name === "done")?.status, "cancelled");
  assert.deepEqual(problems, []);
  await page.context().close();
});

test("consent cannot be clicked through a frame that is transparent, covered or not seen for long enough; a reload says what is lost", async () => {
  const session = await createSession();
  const { page, frame } = await openShop();
  const style = (text: string) =>
    page.evaluate(`Object.assign(document.getElementById("place").style, ${text})`);
  // Before anything can be seen, and so low that heading and button are not in the window together.
  await page.setViewportSize({ width: 900, height: 360 });
  await style("{ opacity: '0.02' }");
  await open(page, session, "#place");
  await heading(frame, "Harbour Hotel asks").waitFor();
  await tick(frame);
  const pressInVain = async (why: string) => {
    await agreeButton(frame).click();
    await frame.getByRole("alert").filter({ hasText: "Look at this page for a moment" }).waitFor();
    assert.equal((await readSession(session)).consentGiven, false, why);
  };
  await look(page);
  await pressInVain("transparent");
  await style("{ opacity: '' }");
  // The cover lets clicks through, as an attacker's would.
  await page.evaluate(`document.body.append(Object.assign(document.createElement("p"), { id: "cover", textContent: "Win a prize" }));
    Object.assign(document.getElementById("cover").style, { position: "fixed", inset: "0 0 60% 0", margin: 0, background: "white", pointerEvents: "none" })`);
  await look(page);
  await pressInVain("covered, though not at the button");
  await page.evaluate("document.getElementById('cover').remove()");
  await pressInVain("seen only now");
  await keepScreenshot(page, "embed-unseen-900-light");
  await look(page);
  await pressInVain("who asks was never seen");
  await page.setViewportSize({ width: 900, height: 700 });
  await heading(frame, "Harbour Hotel asks").scrollIntoViewIfNeeded();
  await glance(page);
  await agreeButton(frame).scrollIntoViewIfNeeded();
  await pressUntilAgreed(page, frame);
  assert.equal((await readSession(session)).consentGiven, true);

  // Nothing could be stored, so a reloaded page has lost what it needs, and says so.
  await page.frames()[1]?.evaluate("void location.reload()");
  await frame.getByText("This page was reloaded").waitFor();
  await frame.getByText("otherwise ask").waitFor();
  await keepScreenshot(page, "embed-forgotten-900-light");
  await page.context().close();
});

test("consent does not count in a frame that shows who asks, the check box and the button, and never what is asked for", async () => {
  const session = await createSession({
    share_fields: { date_of_birth: { required: true, reason: "For the contract." } },
  });
  const { page, frame } = await openShop();
  await page.setViewportSize({ width: 900, height: 2000 });
  const clip = (fromPx: number, heightPx: number) =>
    page.evaluate(`Object.assign(document.getElementById("place").style, { overflow: "hidden", height: "${heightPx}px" });
      const framed = document.querySelector("iframe");
      if (framed !== null) framed.style.marginTop = "${-fromPx}px";`);
  const topOf = async (locator: ReturnType<typeof agreeButton>) => {
    const [box, place] = [await locator.boundingBox(), await page.locator("iframe").boundingBox()];
    assert.ok(box !== null && place !== null);
    return { top: box.y - place.y, bottom: box.y + box.height - place.y };
  };
  await clip(0, 1);
  await open(page, session, "#place");
  await heading(frame, "Harbour Hotel asks").waitFor();
  const title = await topOf(heading(frame, "Harbour Hotel asks"));
  await clip(0, title.bottom + 4);
  await look(page);
  // With the keyboard: where the pointer is makes no difference to what is seen.
  const box = frame.getByRole("checkbox", { name: "I agree to the check" });
  const [from, to] = [(await topOf(box)).top - 8, (await topOf(agreeButton(frame))).bottom + 4];
  await clip(from, to - from);
  await box.press("Space");
  assert.equal(await box.isChecked(), true);
  await look(page, 1_000);
  await agreeButton(frame).press("Enter");
  await frame.getByRole("alert").filter({ hasText: "Look at this page for a moment" }).waitFor();
  assert.equal((await readSession(session)).consentGiven, false, "the list of fields was never shown");
  await clip(0, 1900);
  for (let press = 0; press < 8 && !(await readSession(session)).consentGiven; press++) {
    await look(page, press * 700);
    await agreeButton(frame).press("Enter");
    await frame
      .getByRole("button", { name: "Choose a test passport" })
      .or(agreeButton(frame))
      .first()
      .waitFor();
  }
  await frame.getByRole("button", { name: "Choose a test passport" }).waitFor();
  await page.context().close();
});

test("a button of which a tenth is cut off counts as seen, and one of which more is does not, whatever was shown before", async () => {
  const session = await createSession();
  const { page, frame } = await openShop();
  await page.setViewportSize({ width: 900, height: 2000 });
  await open(page, session, "#place");
  await heading(frame, "Harbour Hotel asks").waitFor();
  await tick(frame);
  // Nothing is pressed by a locator: that would scroll.
  const button = await agreeButton(frame).boundingBox();
  const place = await page.locator("#place").boundingBox();
  assert.ok(button !== null && place !== null);
  const show = (share: number) =>
    page.evaluate(
      `Object.assign(document.getElementById("place").style, { overflow: "clip", height: "${button.y + share * button.height - place.y}px" })`,
    );
  const press = () => page.mouse.click(button.x + button.width / 2, button.y + 5);
  const refused = frame.getByRole("alert").filter({ hasText: "Look at this page for a moment" });
  await show(0.95);
  await look(page);
  await show(0.6);
  await glance(page);
  await press();
  await refused.waitFor();
  assert.equal((await readSession(session)).consentGiven, false, "more than a third of it is cut off");
  await show(0.95);
  await look(page, 1_000);
  await press();
  await frame.getByRole("button", { name: "Choose a test passport" }).waitFor();
  await page.context().close();
});

test("a browser that cannot tell whether a frame is seen takes consent in a tab, and the frame follows", async () => {
  const session = await createSession({ redirect_url: "http://localhost:9/never" });
  const { page, frame, problems } = await openShop({
    script: "delete IntersectionObserverEntry.prototype.isVisible",
  });
  await open(page, session);
  await frame.getByText("This page is shown inside another one").waitFor();
  assert.equal(await frame.getByRole("checkbox").count(), 0);
  const [tab] = await Promise.all([
    page.context().waitForEvent("page"),
    frame.getByRole("button", { name: "Open in a new tab" }).click(),
  ]);
  await heading(frame, "Continue in the new tab").waitFor();
  await keepScreenshot(page, "embed-moved-900-light");
  await tick(tab);
  assert.equal(tab.url(), session.verification_url);
  await agreeButton(tab).click();
  await tab.getByRole("button", { name: "Choose a test passport" }).click();
  await readPassport(tab);
  await tab.reload();
  await tab.getByRole("button", { name: "Continue", exact: true }).click();
  await tab.getByText("You can close this tab").waitFor();
  assert.equal(await tab.getByText("Returning in").count(), 0);
  await keepScreenshot(tab, "embed-tab-900-light");
  await heading(frame, "You are verified").waitFor();
  await untilToldOf(page, "done");
  const closed = tab.waitForEvent("close");
  // The tab may be gone before the click is answered; only that matters.
  await Promise.allSettled([tab.getByRole("button", { name: "Close this tab" }).click()]);
  await closed;
  assert.deepEqual(problems, []);
  await page.context().close();
});

test("a frame without the script and without the camera says so, leads to a tab, and its way back is in the window", async () => {
  const session = await createSession({ redirect_url: "http://localhost:9/done" });
  const { page, frame } = await openShop();
  await page.evaluate(`document.getElementById("place").append(Object.assign(document.createElement("iframe"), {
    src: ${JSON.stringify(session.verification_url)}, width: 800, height: 800 }))`);
  await agreeIn(page, frame);
  await frame.getByRole("button", { name: "Choose a test passport" }).click();
  await readPassport(frame);
  await frame.getByRole("button", { name: "Use the camera" }).click();
  const alert = frame.getByRole("alert").filter({ hasText: "The camera is blocked in this frame" });
  await alert.getByRole("button", { name: "Use another device" }).click();
  const [tab] = await Promise.all([
    page.context().waitForEvent("page"),
    frame.getByRole("button", { name: "Open in a new tab" }).click(),
  ]);
  // The tab knows the address alone, and anybody can send such an address to somebody else.
  await heading(tab, "Did you start this yourself?").waitFor();
  await tab.getByRole("button", { name: "Yes, I started this" }).click();
  await readPassport(tab);
  await tab.getByRole("button", { name: "Continue", exact: true }).click();
  await tab.getByText("You can close this tab").waitFor();
  await heading(frame, "You are verified").waitFor();
  const back = frame.getByRole("link", { name: "Back to Harbour Hotel" });
  assert.equal(await back.getAttribute("target"), "_top");
  assert.equal(await frame.getByText("Returning in").count(), 0);
  await page.context().close();
});

test("an origin that the session does not name gets no frame but a link to a tab, and so does everybody without one", async () => {
  for (const [at, session] of [
    [foreign, await createSession()],
    [origin, await createSession({ embed_origin: null })],
  ] as const) {
    const { page, frame } = await openShop({ at });
    await page.clock.install();
    await open(page, session);
    await until(page, "document.querySelector('iframe').contentDocument === null");
    await page.clock.fastForward(8_000);
    assert.deepEqual(await toldTo(page), []);
    assert.equal(await frame.getByRole("heading").count(), 0);
    await page.clock.fastForward(8_000);
    const link = page.getByRole("link", { name: "Open the verification in a new tab" });
    assert.equal(await link.getAttribute("href"), session.verification_url);
    assert.deepEqual(
      (await toldTo(page)).map(({ name, reason }) => [name, reason]),
      [["failure", "not_loaded"]],
    );
    await page.context().close();
  }
});

test("the example shop delivers after a check on the page and on ours, survives a restart, and refuses forged webhooks", async () => {
  const shop = await startShop(url, authority);
  const { page, frame, problems } = await openShop({ at: shop.url, width: 320 });
  await page.emulateMedia({ colorScheme: "dark" });
  const order = async () => {
    await page.goto(shop.url);
    await page.getByRole("button", { name: "Order" }).click();
    await page.getByText("We need proof of your age.").waitFor();
  };
  const finish = async (at: Place) => {
    await at.getByRole("button", { name: "Choose a test passport" }).click();
    await readPassport(at);
    await at.getByRole("button", { name: "Continue", exact: true }).click();
  };
  await checkAccessibility(page);
  await keepScreenshot(page, "shop-320-dark");
  await order();
  await checkAccessibility(page);
  assert.equal(await isWiderThanScreen(page), false);
  await page.getByRole("button", { name: "Check my age here" }).click();
  await heading(frame, "Corner Shop asks").waitFor();
  await keepScreenshot(page, "shop-frame-320-dark");
  await glance(page);
  await tick(frame);
  await pressUntilAgreed(page, frame, "Corner Shop asks");
  await finish(frame);
  await page.getByText("Your cider is on its way.").waitFor();
  await keepScreenshot(page, "shop-delivered-320-dark");

  await page.setViewportSize({ width: 1440, height: 900 });
  await page.emulateMedia({ colorScheme: "light" });
  await order();
  await checkAccessibility(page);
  await keepScreenshot(page, "shop-order-1440-light");
  const address = page.url();
  await page.getByRole("button", { name: "Check my age on Assay’s page" }).click();
  await heading(page, "Corner Shop asks").waitFor();
  await shop.restart();
  const forged = await shop.send("t=1,v1=00", "a.b.c.d.e");
  assert.deepEqual(forged, [400, 400]);
  await tick(page);
  await agreeButton(page).click();
  await finish(page);
  await page.getByRole("link", { name: "Back to Corner Shop" }).click();
  await page.getByText("Your cider is on its way.").waitFor();
  assert.equal(page.url().split("?")[0], address);
  // The address is not trusted: an unverified order does not change.
  await order();
  await page.goto(`${page.url()}?status=succeeded`);
  await page.getByText("We need proof of your age.").waitFor();
  assert.deepEqual(
    problems.filter((problem) => !/ERR_(?:CONNECTION_REFUSED|INCOMPLETE_CHUNKED_ENCODING)/.test(problem)),
    [],
  );
  await page.context().close();
});
