import assert from "node:assert/strict";
import test from "node:test";
import { answerAsWallet, receiveRequest } from "@assay/credential/openid4vp/answer-as-wallet";
import { presentSpecimen } from "@assay/credential/test-country/present-specimen";
import type { WalletOutcome } from "@assay/credential/test-country/wallet-outcomes";
import { answerRequest } from "@assay/credential/test-wallet/answer-request";
import { readRequest } from "@assay/credential/test-wallet/read-request";
import type { BrowserContext, Page } from "playwright-core";
import { sql } from "../../../src/platform/db/sql.ts";
import { createPartner, expectData } from "../../support/api.ts";
import {
  checkAccessibility,
  isWiderThanScreen,
  keepScreenshot,
  keepsScreenshots,
  looksAtAll,
  openBrowser,
  openPage,
} from "../../support/browser.ts";
import { createAuthority } from "../../support/certificate.ts";
import { startPartnerPage } from "../../support/partner-page.ts";
import { createReceivingEndpoint, decrypt, startReceiver } from "../../support/receiver.ts";
import { startTestService } from "../../support/service.ts";
import { until } from "../../support/until.ts";
import { agree as agreeByApi } from "../../support/verify.ts";
import { agree, heading, readTestPassport, untilTold } from "../../support/verify-page.ts";

const authority = createAuthority();
const { url, api, clock, core } = await startTestService({
  env: { WEBHOOK_ALLOWED_PRIVATE_HOSTS: "127.0.0.1" },
  webhooks: { ca: authority.certificate },
});
const browser = await openBrowser();
const partner = await createPartner(api);
await partner.owner.api.patch("/v1/auth/orgs", { name: "Harbour Hotel" });
const receiver = await startReceiver(authority);
await createReceivingEndpoint(partner.api, receiver.url);

const shareFields = {
  family_name: { required: true, reason: "To find your booking." },
  age_over_18: { required: true, reason: "The bar is for adults." },
};
const ageOnly = { age_over_18: { required: true, reason: "The bar is for adults." } };

type Created = { id: string; verification_url: string };

async function createSession(
  methods: readonly string[],
  body: Record<string, unknown> = {},
): Promise<Created> {
  return expectData(
    await partner.api.post("/v1/sessions", { methods, share_fields: shareFields, ...body }),
    201,
  );
}

const readSession = async ({ id }: Created) => expectData(await partner.api.get(`/v1/sessions/${id}`));

async function eventOf(session: Created) {
  for (;;) {
    for (const { body } of receiver.received) {
      const { event } = await decrypt(body);
      if (event.metadata.verification_session_id === session.id) return event;
    }
    await receiver.until(receiver.received.length + 1);
  }
}

const withoutApi = "delete window.DigitalCredential;";

type Device = Parameters<typeof openPage>[2];

/** A separate browser for the person, at the service's time, which the test wallet uses. */
async function openPerson(address: string, device: Device = {}, script = withoutApi) {
  const { page, problems } = await openPage(browser, url, device);
  page.setDefaultTimeout(30_000);
  await page.clock.install({ time: clock.now() });
  await page.addInitScript(script);
  await page.goto(address);
  return { page, problems };
}

/** Another tab of the same browser: it has the cookies, and nothing that was kept for the tab. */
async function openTab(context: BrowserContext, address: string): Promise<Page> {
  const page = await context.newPage();
  await page.clock.install({ time: clock.now() });
  await page.goto(address);
  return page;
}

const button = (page: Page, name: string) => page.getByRole("button", { name, exact: true });

/** The names of the steps, without what only screen readers get to hear of them. */
async function stepsIn(page: Page): Promise<string[]> {
  const names = await page.getByRole("list", { name: "Steps" }).getByRole("listitem").allInnerTexts();
  return names.map((name) => name.replace("(done)", "").trim());
}

/** Presses what asks the wallet, and returns the request that the page got. */
async function pressAndRead(page: Page, name: string): Promise<{ request_id: string; link: string }> {
  const [response] = await Promise.all([
    page.waitForResponse((answer) => answer.url().endsWith("/wallet")),
    button(page, name).click(),
  ]);
  return (await response.json()).data;
}

/** Opens the wallet. Presses again if the machine was so slow that the user activation expired. */
async function openWallet(page: Page): Promise<{ link: string }> {
  const request = await pressAndRead(page, "Open your wallet");
  const pressAgain = page.getByText("Press once more to open the app.");
  await page.getByText("Waiting for the app…").or(pressAgain).waitFor();
  if (await pressAgain.isVisible()) await button(page, "Open your wallet").click();
  return request;
}

/** What the person does in the test wallet. */
async function shareInTestWallet(page: Page, title: string): Promise<void> {
  await heading(page, "Test wallet").waitFor();
  await page.getByRole("radio", { name: new RegExp(`^${title}`) }).check();
  await button(page, "Share").click();
}

/** A wallet that runs in the test: answers the request and says where the person is sent. */
async function answerWith(link: string, outcome: WalletOutcome): Promise<string> {
  const request = await readRequest(link, fetch as never);
  const { redirectUri } = await answerRequest(request, outcome, { fetch: fetch as never, now: clock.now() });
  return redirectUri ?? assert.fail("the service names no way back");
}

/** Between them they have the parts that no other screen of the page has, so only they are checked for contrast. */
const contrastScreens = new Set(["choose", "refused"]);

/** Fits the narrowest screen and is accessible. Screenshots also show it in forced colours. */
async function look(page: Page, name: string): Promise<void> {
  const before = page.viewportSize() ?? { width: 1440, height: 900 };
  await page.emulateMedia({ colorScheme: "dark" });
  await page.setViewportSize({ width: 320, height: 900 });
  assert.equal(await isWiderThanScreen(page), false, `${name} scrolls sideways at 320 px`);
  await checkAccessibility(page, looksAtAll || contrastScreens.has(name) ? "all" : "structure");
  if (keepsScreenshots)
    for (const width of [320, 1440])
      for (const colorScheme of ["light", "dark", "forced"] as const) {
        await page.emulateMedia(
          colorScheme === "forced"
            ? { forcedColors: "active", colorScheme: "dark" }
            : { forcedColors: "none", colorScheme },
        );
        await page.setViewportSize({ width, height: 640 });
        const height = await page.evaluate<number>("document.documentElement.scrollHeight");
        await page.setViewportSize({ width, height: Math.min(height, 4000) });
        await keepScreenshot(page, `wallet-${name}-${width}-${colorScheme}`);
      }
  await page.emulateMedia({ forcedColors: "none", colorScheme: "light" });
  await page.setViewportSize(before);
}

test("by link: the person agrees, chooses the wallet, confirms there and comes back; what is looked at is said before", async () => {
  const session = await createSession(["wallet_pid", "document_chip"], {
    redirect_url: "http://localhost:9/booked",
  });
  const { page, problems } = await openPerson(session.verification_url, { device: "android" });
  await heading(page, "Harbour Hotel asks you to verify your identity").waitFor();
  const looked = page.locator("section").filter({ hasText: "Looked at in a wallet, but not shared" });
  await looked.getByText("Date of birth, to work out your age").waitFor();
  await looked.getByText("Date of expiry, to see whether it is still valid").waitFor();
  await page.getByText("You agree that what your wallet presents is checked").waitFor();
  assert.deepEqual(await stepsIn(page), ["Agree", "Choose a way", "Done"]);
  await look(page, "consent");
  await agree(page);

  await page.locator("h1:focus").getByText("How do you want to be verified?").waitFor();
  const ways = await page.locator("main li button").allInnerTexts();
  assert.deepEqual(
    ways.map((text) => text.split("\n")[0]),
    ["With your wallet", "With your passport"],
    "in the order of the partner",
  );
  assert.equal(await page.locator("li[aria-current=step]").innerText(), "Choose a way");
  await look(page, "choose");
  // By keyboard: the heading has the focus, the ways follow.
  await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  await page.locator("h1:focus").getByText("Use your wallet").waitFor();
  assert.equal(await page.locator("li[aria-current=step]").innerText(), "Use your wallet");
  await look(page, "ask");

  await button(page, "Use the test wallet").click();
  await shareInTestWallet(page, "Valid, an adult");
  await heading(page, "You are verified").waitFor();
  assert.equal(page.url(), session.verification_url, "the code has left the address");
  assert.deepEqual(problems, []);
  const event = await eventOf(session);
  assert.equal(event.data.claims.age_over_18, true);
  assert.equal(event.data.evidence.binding, "same_browser");
  assert.deepEqual(await page.evaluate("Object.keys(localStorage)"), ["assay:return-codes"]);
  await page.context().close();
});

/** Remembers what the stream of the session has reported. */
const tellingStream = `${withoutApi}
  const Stream = window.EventSource;
  window.EventSource = class extends Stream {
    constructor(address) {
      super(address);
      this.addEventListener("status", ({ data }) => { window.told = JSON.parse(data); });
    }
  };`;

/** Delays an answer until the stream has sent its content to the page and the page has drawn it. */
async function holdBack(
  page: Page,
  address: string,
  reported: string,
  look: () => Promise<void>,
): Promise<void> {
  await page.route(address, async (route) => {
    const response = await route.fetch();
    await until("the stream has told the page", () => page.evaluate<boolean>(`window.told?.${reported}`));
    await page.evaluate("new Promise((drawn) => setTimeout(drawn, 100))");
    await look();
    await route.fulfill({ response });
  });
}

test("a service that reports something before it answers leads the page nowhere else", async () => {
  const session = await createSession(["wallet_pid"]);
  const { page } = await openPerson(session.verification_url, { device: "android" }, tellingStream);
  await holdBack(page, "**/consent", "consent_given", async () => {
    assert.equal(await heading(page, "Did you start this yourself?").count(), 0);
  });
  await holdBack(page, "**/wallet", "attempt?.step === 'wallet'", async () => {
    assert.equal(await heading(page, "Continue in your wallet").count(), 0);
  });
  await agree(page);
  await heading(page, "Use your wallet").waitFor();
  await button(page, "Use the test wallet").click();
  await shareInTestWallet(page, "Valid, an adult");
  await heading(page, "You are verified").waitFor();
  await page.context().close();
});

test("no state of the page is needed: a wallet that comes back to a fresh tab of the browser finishes there", async () => {
  const session = await createSession(["wallet_pid"]);
  const { page } = await openPerson(session.verification_url, { device: "android" });
  await agree(page);
  // One way is no choice.
  await heading(page, "Use your wallet").waitFor();
  const { link } = await openWallet(page);
  const back = await answerWith(link, "valid");
  const tab = await openTab(page.context(), back);
  await heading(tab, "You are verified").waitFor();
  assert.equal(tab.url(), session.verification_url);
  assert.equal((await readSession(session)).status, "succeeded");
  await page.context().close();
});

test("a wallet that comes back to the very page that asked is heard, although the browser loads nothing", async () => {
  const session = await createSession(["wallet_pid"]);
  const { page } = await openPerson(session.verification_url, { device: "android" });
  await agree(page);
  const { link } = await openWallet(page);
  const back = await answerWith(link, "valid");
  await page.evaluate(`location.assign(${JSON.stringify(back)})`);
  await heading(page, "You are verified").waitFor();
  await page.context().close();
});

test("in another browser the answer is erased and explained; starting again there asks whether the person began, and finishes", async () => {
  const session = await createSession(["wallet_pid"]);
  const first = await openPerson(session.verification_url, { device: "iphone" });
  await agree(first.page);
  const { link } = await openWallet(first.page);
  const back = await answerWith(link, "valid");
  const other = await openPerson(back, { device: "iphone" });
  await heading(other.page, "You are in a different browser now").waitFor();
  assert.equal(new URL(other.page.url()).hash, "");
  assert.equal((await readSession(session)).status, "in_progress");
  await look(other.page, "other-browser");
  await button(other.page, "Start again here").click();
  await heading(other.page, "Did you start this yourself?").waitFor();
  await other.page.getByText("Family name").waitFor();
  await button(other.page, "Yes, I started this").click();
  await button(other.page, "Use the test wallet").click();
  await shareInTestWallet(other.page, "Valid, an adult");
  await heading(other.page, "You are verified").waitFor();
  assert.equal((await eventOf(session)).data.evidence.binding, "handed_over");
  // The first browser is notified as well.
  await heading(first.page, "You are verified").waitFor();
  await other.page.context().close();
  await first.page.context().close();
});

test("what is refused is explained with the tries left, what is declined uses up none, and the third refusal ends it", async () => {
  const session = await createSession(["wallet_mdl", "document_chip"]);
  const { page, problems } = await openPerson(session.verification_url, { device: "android" });
  await agree(page);
  await button(
    page,
    "With your wallet An app presents your digital identity card or driving licence.",
  ).click();
  await button(page, "Use the test wallet").click();
  await heading(page, "Test wallet").waitFor();
  await button(page, "Decline").click();
  await untilTold(page, "The app shared nothing");
  for (const [title, told, left] of [
    ["Expired", "The credential has expired", "2 attempts left."],
    ["Another holder's key", "The wallet could not prove that the credential is yours", "1 attempt left."],
  ] as const) {
    await button(page, "Use the test wallet").click();
    await shareInTestWallet(page, title);
    await untilTold(page, told);
    await page.getByText(left).waitFor();
    if (title === "Expired") await look(page, "refused");
  }
  await button(page, "Use the test wallet").click();
  await heading(page, "Test wallet").waitFor();
  await button(page, "Decline").click();
  await heading(page, "Use your wallet").waitFor();
  await page.getByText("1 attempt left.").waitFor();
  await button(page, "Choose another way").click();
  await heading(page, "How do you want to be verified?").waitFor();
  await page.getByRole("button", { name: /^With your wallet/ }).click();
  await button(page, "Use the test wallet").click();
  await shareInTestWallet(page, "Revoked");
  await heading(page, "The verification did not succeed").waitFor();
  await page.getByRole("heading", { name: "The credential could not be confirmed" }).waitFor();
  await look(page, "failed");
  assert.equal((await readSession(session)).failure_code, "document_authenticity_failed");
  assert.deepEqual(problems, []);
  await page.context().close();
});

test("a computer hands over to the phone by our own page, which asks again; the computer follows and shows the end", async () => {
  const session = await createSession(["document_chip", "wallet_pid"]);
  const { page, problems } = await openPerson(session.verification_url);
  await agree(page);
  await page.getByRole("button", { name: /^With your wallet/ }).click();
  await heading(page, "Continue on your phone").waitFor();
  await page.getByRole("img", { name: "QR code with a link to this verification" }).waitFor();
  await look(page, "handover");
  const link = await page.getByLabel("Link for the other device").inputValue();
  assert.ok(link.startsWith(`${session.verification_url}#handoff=`), "the code is no request");

  const phone = await openPerson(link, { device: "iphone" });
  await heading(phone.page, "Did you start this yourself?").waitFor();
  await phone.page.getByText("began it at Harbour Hotel yourself").waitFor();
  await phone.page.getByText("Family name").waitFor();
  assert.equal((await readSession(session)).status, "created", "looking takes nothing");
  await look(phone.page, "started");
  await button(phone.page, "Yes, I started this").click();
  await heading(phone.page, "Use your wallet").waitFor();
  const { link: request } = await openWallet(phone.page);
  await heading(page, "Continue in your wallet").waitFor();
  await look(page, "follow");
  const tab = await openTab(phone.page.context(), await answerWith(request, "minor"));
  await tab.getByText("You can put this device aside").waitFor();
  await heading(page, "You are verified").waitFor();
  const event = await eventOf(session);
  assert.equal(event.data.evidence.binding, "handed_over");
  assert.equal(event.data.claims.age_over_18, false);
  assert.deepEqual(problems, []);
  await phone.page.context().close();
  await page.context().close();
});

test("no wallet reacts: the page says so after four seconds, and the passport takes over without a try lost", async () => {
  const session = await createSession(["wallet_pid", "document_chip"]);
  const { page } = await openPerson(session.verification_url, { device: "android" });
  await agree(page);
  await page.getByRole("button", { name: /^With your wallet/ }).click();
  await openWallet(page);
  await page.getByText("Waiting for the app…").waitFor();
  assert.equal(await page.getByText("No wallet here?").count(), 0);
  await page.clock.runFor(4_100);
  await untilTold(page, "No wallet here?");
  await look(page, "no-wallet");
  await button(page, "Use your passport").click();
  await button(page, "Choose a test passport").click();
  await readTestPassport(page, "Valid passport A");
  await heading(page, "Now show your face").waitFor();
  const steps = await page.locator("header ol li").allInnerTexts();
  assert.equal(steps.length, 4, "agree, chip, face, done");
  await button(page, "Continue").click();
  await heading(page, "You are verified").waitFor();
  const event = await eventOf(session);
  assert.equal(event.data.evidence.method, "chip_and_face");
  await page.context().close();
});

test("a wallet that comes into view is one that reacted, however long the person stays there", async () => {
  const session = await createSession(["wallet_pid"]);
  const { page } = await openPerson(session.verification_url, { device: "android" });
  await agree(page);
  await openWallet(page);
  await page.getByText("Waiting for the app…").waitFor();
  await page.evaluate(`
    Object.defineProperty(document, "visibilityState", { get: () => "hidden", configurable: true });
    document.dispatchEvent(new Event("visibilitychange"));
    delete document.visibilityState;
    document.dispatchEvent(new Event("visibilitychange"));`);
  await page.clock.runFor(6_000);
  assert.equal(await page.getByText("No wallet here?").count(), 0);
  await page.context().close();
});

type DcRequest = { requests: { protocol: string; data: { request?: string } }[] };

/** The answer of a wallet to what the browser hands it: an SD-JWT VC for the origin of the page. */
async function answerDcRequest({ requests }: DcRequest, outcome: Exclude<WalletOutcome, "declines">) {
  const [entry] = requests;
  const request = receiveRequest(entry?.data.request ?? "");
  const credential =
    request.query.credentials.find(({ format }) => format === "dc+sd-jwt") ?? assert.fail("no SD-JWT VC");
  const presentation = await presentSpecimen({
    credential,
    // Over this API the audience is the origin, and there is no address for the answer.
    request: { ...request, clientId: `origin:${url}`, responseUri: `${url}/oid4vp/response/none` },
    outcome,
    now: clock.now(),
  });
  const data = await answerAsWallet({ kind: "presented", id: credential.id, presentation }, request);
  return { protocol: entry?.protocol, data };
}

type DcOutcome = Exclude<WalletOutcome, "declines"> | null;

/**
 * The browser's own API with Chromium's virtual wallet for tests. Each request gets the next answer; null is
 * a person who closes the browser's dialogue. Returns the requests that the page passed to the API.
 */
async function useVirtualWallet(page: Page, answers: DcOutcome[]): Promise<() => Promise<DcRequest[]>> {
  const wallet = await page.context().newCDPSession(page);
  await page.route("**/wallet", async (route) => {
    const response = await route.fetch();
    const { dc_request: request } = (await response.json()).data;
    const outcome = answers.shift() ?? null;
    const { protocol, data } = outcome === null ? {} : await answerDcRequest(request, outcome);
    const behavior =
      outcome === null ? { action: "decline" } : { action: "respond", protocol, response: data };
    await wallet.send("DigitalCredentials.setVirtualWalletBehavior" as never, behavior as never);
    await route.fulfill({ response });
  });
  await page.addInitScript(`
    window.asked = [];
    const get = navigator.credentials.get.bind(navigator.credentials);
    navigator.credentials.get = (options) => {
      window.asked.push(options.digital);
      return get(options);
    };`);
  return () => page.evaluate<DcRequest[]>("window.asked");
}

/**
 * Opens the wallet through the browser and waits for the result. Presses again if the machine was so slow
 * that the user activation expired.
 */
async function askBrowser(page: Page, told: string): Promise<void> {
  await button(page, "Open your wallet").click();
  const pressAgain = page.getByText("Press once more to open the app.");
  await page.getByText(told).or(pressAgain).first().waitFor();
  if (await pressAgain.isVisible()) await button(page, "Open your wallet").click();
  await page.getByText(told).first().waitFor();
}

test("where the browser has the Digital Credentials API, it comes first, with both protocols in one call", async () => {
  const session = await createSession(["wallet_pid", "wallet_mdl"]);
  const { page, problems } = await openPage(browser, url);
  page.setDefaultTimeout(30_000);
  const asked = await useVirtualWallet(page, [null, "unknown-issuer", "valid"]);
  await page.goto(session.verification_url);
  await agree(page);
  await heading(page, "Use your wallet").waitFor();
  assert.equal(await page.getByRole("img", { name: "QR code" }).count(), 0);
  await look(page, "api");

  await askBrowser(page, "The app shared nothing");
  const [request, ...others] = await asked();
  assert.deepEqual(others, []);
  assert.deepEqual(
    [...new Set(request?.requests.map(({ protocol }) => protocol))],
    ["openid4vp-v1-signed", "org-iso-mdoc"],
  );
  await look(page, "declined");
  await askBrowser(page, "The credential could not be confirmed");
  await page.getByText("2 attempts left.").waitFor();
  await askBrowser(page, "You are verified");
  assert.equal((await asked()).length, 3);
  assert.equal((await eventOf(session)).data.evidence.binding, "platform");
  assert.deepEqual(problems, []);
  await page.context().close();
});

test("a press that is too old for the browser is asked for once more, and the request is not made twice", async () => {
  const session = await createSession(["wallet_pid"]);
  const { page } = await openPage(browser, url);
  page.setDefaultTimeout(30_000);
  await useVirtualWallet(page, ["valid"]);
  await page.addInitScript(`
    let isFresh = false;
    Object.defineProperty(navigator, "userActivation", { get: () => ({ isActive: isFresh }) });
    window.freshen = () => { isFresh = true; };`);
  let made = 0;
  page.on("request", (request) => {
    if (request.url().endsWith("/wallet")) made += 1;
  });
  await page.goto(session.verification_url);
  await agree(page);
  await button(page, "Open your wallet").click();
  await page.getByText("Press once more to open the app.").waitFor();
  await page.evaluate("freshen()");
  await button(page, "Open your wallet").click();
  await heading(page, "You are verified").waitFor();
  assert.equal(made, 1);
  await page.context().close();
});

test("a proof of age: one way, no choice; on a computer the code is the request itself, and the page goes on by itself", async () => {
  const session = await createSession(["wallet_age"], { share_fields: ageOnly });
  const { page, problems } = await openPerson(session.verification_url);
  await heading(page, "Harbour Hotel asks you to verify your identity").waitFor();
  assert.equal(await page.getByText("Looked at in a wallet").count(), 0, "nothing else is looked at");
  await agree(page);
  await heading(page, "Use your age app").waitFor();
  assert.deepEqual(await stepsIn(page), ["Agree", "Use your age app", "Done"]);
  const { link } = await pressAndRead(page, "Show a code");
  assert.match(link, /^av:\/\//);
  await page.getByRole("img", { name: "QR code for the age app" }).waitFor();
  await look(page, "age-code");
  await answerWith(link, "valid");
  await heading(page, "You are verified").waitFor();
  const event = await eventOf(session);
  assert.equal(event.data.evidence.binding, "cross_device");
  assert.deepEqual(problems, []);
  await page.context().close();
});

test("in a frame the wallet is asked in a tab: from the beginning where there is no other way, after agreeing where there is", async () => {
  const { origin } = await startPartnerPage(url);
  for (const methods of [["wallet_pid"], ["document_chip", "wallet_pid"]]) {
    const session = await createSession(methods, { embed_origin: origin });
    // A headless browser cannot check whether a frame is visible, so consent is given through the API.
    if (methods.length > 1)
      await agreeByApi(api, session.id, [...Object.keys(shareFields), "service_document_id"]);
    const context = await browser.newContext();
    const page = await context.newPage();
    page.setDefaultTimeout(30_000);
    await page.goto(origin);
    await page.evaluate(`
      window.steps = [];
      Assay.open({ verificationUrl: ${JSON.stringify(session.verification_url)}, onChange: ({ step }) => window.steps.push(step) })`);
    const frame = page.frameLocator("iframe");
    if (methods.length > 1) {
      await frame.getByRole("button", { name: "Yes, I started this" }).click();
      await frame.getByRole("button", { name: /^With your wallet/ }).click();
    }
    const [tab] = await Promise.all([
      context.waitForEvent("page"),
      frame.locator("main").getByRole("button", { name: "Open in a new tab" }).click(),
    ]);
    await tab.clock.install({ time: clock.now() });
    if (methods.length === 1) await agree(tab);
    else {
      await button(tab, "Yes, I started this").click();
      await tab.getByRole("button", { name: /^With your wallet/ }).click();
    }
    await button(tab, "Use the test wallet").click();
    await shareInTestWallet(tab, "Valid, an adult");
    await button(tab, "Close this tab").waitFor();
    await frame.getByRole("heading", { name: "You are verified" }).waitFor();
    assert.ok((await page.evaluate<string[]>("window.steps")).includes("wallet"));
    await context.close();
  }
});

test("with binding required, no other browser or device can go on", async () => {
  const session = await createSession(["wallet_pid"], { requirements: { binding: "required" } });
  const { page } = await openPerson(session.verification_url, { device: "android" });
  await agree(page);
  await heading(page, "Use your wallet").waitFor();
  const other = await openPerson(session.verification_url, { device: "android" });
  await heading(other.page, "Continue where you began").waitFor();
  await other.page.context().close();
  await button(page, "Use the test wallet").click();
  await shareInTestWallet(page, "Valid, an adult");
  await heading(page, "You are verified").waitFor();
  await page.context().close();
});

test("where no way is left, the page says so instead of showing one that leads nowhere", async () => {
  const session = await createSession(["wallet_pid"]);
  await core.db.run(sql`update sessions set methods = '{wallet_age}' where id = ${session.id}`);
  const { page } = await openPerson(session.verification_url);
  await heading(page, "Something went wrong on our side").waitFor();
  await button(page, "Try again").waitFor();
  await page.context().close();
});

test("the wallet's screens fit on a narrow phone in every language", async () => {
  const session = await createSession(["document_chip", "wallet_pid"]);
  const { page, problems } = await openPerson(session.verification_url);
  await page.setViewportSize({ width: 320, height: 900 });
  await agree(page);
  const languages = await page
    .locator("header select option")
    .evaluateAll((options) => options.map((option) => option.getAttribute("value") ?? ""));
  assert.ok(languages.length > 20);
  const ways = page.locator("main li button");
  for (const language of languages) {
    await page.locator("header select").selectOption(language);
    await page.locator(`html[lang=${language}]`).waitFor();
    await ways.first().waitFor();
    assert.equal(await isWiderThanScreen(page), false, `choosing in ${language}`);
    await ways.nth(1).click();
    await page.locator("main img[role], main svg[role=img]").first().waitFor();
    assert.equal(await isWiderThanScreen(page), false, `asking in ${language}`);
    if (["ar", "el", "fi"].includes(language))
      await keepScreenshot(page, `wallet-language-${language}-320-light`);
    await page.locator("main button").last().click();
  }
  assert.deepEqual(problems, []);
  await page.context().close();
});
