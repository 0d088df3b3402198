// The whole flow through the phone's own code: a real service, the real page in a browser, the shell under Robolectric, a software chip
// behind its IsoDep. Between page and shell stands this file, in the place of the web view: it runs the script that the shell gave for the page,
// and carries the texts of the message port. `npm run android -- test` starts it.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { createInterface } from "node:readline";
import test, { after } from "node:test";
import { transportChecks } from "@assay/device/check-transport";
import { testDocuments } from "@assay/emrtd/node/test-country/catalogue";
import type { Page } from "playwright-core";
import { buildCheckPage } from "../../../scripts/build-check-page.ts";
import { createPartner, expectData } from "../../server/test/support/api.ts";
import { openBrowser, openPage } from "../../server/test/support/browser.ts";
import { startTestService } from "../../server/test/support/service.ts";
import { en as t } from "../../verify/src/i18n/en.ts";
import { startVirtualChip } from "./virtual-chip.ts";

const jvm = JSON.parse(process.env.ASSAY_PHONE_JVM ?? "null") as string[] | null;
const { url, api, clock } = await startTestService();
const browser = await openBrowser();
const document = testDocuments(clock.now()).find(({ id }) => id === "passport-valid");
assert.ok(document);
const { mrzKey } = document.chip;
const chip = await startVirtualChip(document);
after(() => chip.close());

/** The phone in its own process. */
async function startPhone() {
  assert.ok(jvm, "run it with npm run android -- test");
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const properties = {
    "assay.origin": url,
    "assay.chip.port": chip.port,
    "assay.control.port": (server.address() as AddressInfo).port,
  };
  const defined = Object.entries(properties).map(([name, value]) => `-D${name}=${value}`);
  const child = spawn("java", [...jvm, ...defined, "assay.shell.RunTests", "assay.shell.WholeFlow"]);
  let output = "";
  child.stdout.on("data", (chunk) => {
    output += chunk;
  });
  const gone = once(child, "exit").then(() => {
    throw new Error(`The phone is gone:\n${output}`);
  });
  gone.catch(() => {});
  const [socket] = (await Promise.race([once(server, "connection"), gone])) as [Socket];
  socket.setNoDelay(true).on("error", () => {});
  const answers: ((line: string) => void)[] = [];
  const phone = {
    onTold: (_message: string): void => {},
    onLost: () => {},
    contacts: 0,
    tell: (line: string) => void socket.write(`${line}\n`),
    ask: (line: string) => {
      const answer = new Promise<string>((resolve) => answers.push(resolve));
      socket.write(`${line}\n`);
      return Promise.race([answer, gone]);
    },
    close: async () => {
      const ended = once(child, "exit");
      socket.write("quit\n");
      await ended;
      socket.destroy();
      server.close();
    },
  };
  createInterface({ input: socket }).on("line", (line) => {
    if (!line.startsWith("told ")) return answers.shift()?.(line);
    const message = line.slice("told ".length);
    if (message.startsWith("limits ")) phone.contacts += 1;
    if (message.startsWith("lost ")) phone.onLost();
    phone.onTold(message);
  });
  return phone;
}

type Phone = Awaited<ReturnType<typeof startPhone>>;

const phone = await startPhone();
after(() => phone.close());

/** A page in the web view's place: the shell's script before the page's own, and its port once the page is loaded. */
async function showIn(page: Page, phone: Phone, answer: string): Promise<void> {
  const [kind, script = "", address = ""] = answer.split(" ");
  assert.equal(kind, "script");
  await page.exposeFunction("sayToShell", (message: string) => phone.tell(`say ${message}`));
  await page.addInitScript(Buffer.from(script, "base64").toString());
  await page.goto(address);
  phone.onTold = (message) =>
    void page.evaluate((text) => Reflect.get(globalThis, "tellPage")(text), message).catch(() => {});
  await phone.ask(`loaded ${page.url()}`);
  await page.evaluate(`{
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = ({ data }) => window.sayToShell(data);
    window.tellPage = (message) => port1.postMessage(message);
    window.dispatchEvent(new MessageEvent("message", { data: "chip-transport", ports: [port2] }));
  }`);
}

const isoDate = (text: string, century: string) =>
  `${century}${text.slice(0, 2)}-${text.slice(2, 4)}-${text.slice(4, 6)}`;

for (const [name, transceiveBytes, commandsUntilSlip] of [
  ["extended length", 65_279, 22],
  ["short commands only", 261, 70],
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
    await showIn(first, phone, await phone.ask(`open ${session.verification_url}`));
    await first.getByRole("checkbox", { name: t.agreeLabel }).check();
    await first.getByRole("button", { name: t.agreeButton }).click();
    await first.getByRole("button", { name: t.readHereButton }).waitFor();

    // Android ends the process. The tab is gone and its sessionStorage with it; what is in localStorage stays.
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

    // The person lays the document down; it slips in the middle of the reading, and is laid down again.
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

test("the shell passes the conformance suite for transports, in a browser and with its own code", async () => {
  const files = await buildCheckPage();
  const address = `${url}/verify/transport-check/`;
  const { page, problems } = await openPage(browser, url, { device: "android" });
  page.setDefaultTimeout(30_000);
  await page.route(`${address}**`, async (route) => {
    const name = route.request().url().slice(address.length);
    const file = files.get(name === "" ? "index.html" : name);
    assert.ok(file, name);
    await route.fulfill({ contentType: file.type, body: file.content });
  });
  let there = false;
  await page.exposeFunction("moveDocument", async (wanted: boolean) => {
    if (there !== wanted) await phone.ask(wanted ? "lay" : "take-away");
    there = wanted;
  });
  await page.addInitScript(
    "window.transportCheckHand = { layDown: () => moveDocument(true), takeAway: () => moveDocument(false) }",
  );
  await phone.ask("carries 65279");
  await showIn(page, phone, await phone.ask(`open ${address}`));
  await page.getByLabel("Document number").fill(mrzKey.documentNumber);
  await page.getByLabel("Date of birth").fill(isoDate(mrzKey.dateOfBirth, "19"));
  await page.getByLabel("Date of expiry").fill(isoDate(mrzKey.dateOfExpiry, "20"));
  await page.getByRole("button", { name: "Begin" }).click();
  await page.getByText("All checks that concern this shell passed.").waitFor({ timeout: 120_000 });
  const results = await page.locator("#results > li").allTextContents();
  assert.equal(results.length, transportChecks.length);
  assert.deepEqual(
    results.filter((line) => !line.startsWith("PASSED")),
    [],
  );
  assert.deepEqual(problems, []);
  await page.context().close();
});
