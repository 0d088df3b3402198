import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import path from "node:path";
import test, { after } from "node:test";
import { keepScreenshot, openBrowser, openPage } from "../../server/test/support/browser.ts";
import { createSteeredCamera } from "../../server/test/support/steered-camera.ts";
import { until } from "../../server/test/support/until.ts";
import { drawnCode, filmed } from "./filmed-code.ts";

const folder = path.resolve(import.meta.dirname, "..");
const shell = readFileSync(path.join(folder, "java/assay/shell/ScanView.java"), "utf8");
const constant = (name: string) => new RegExp(`String ${name} = "(.*)";`).exec(shell)?.[1] ?? "";
const origin = constant("ORIGIN");

const camera = createSteeredCamera({ width: 480, height: 480 });
after(() => camera.close());
const browser = await openBrowser(camera.launchArguments);

function show(text: string): void {
  const { width, height, light } = filmed(drawnCode(text), { module: text.length > 200 ? 4 : 6 }, 480);
  const data = Uint8Array.from({ length: light.length * 3 }, (_, at) => light[Math.floor(at / 3)] ?? 0);
  camera.show({ width, height, data });
}

/** The scanner as ScanView.java shows it: every answer comes from the app, under its policy. */
async function openScanner(script = "") {
  const { page, problems } = await openPage(browser, origin, { width: 390 });
  const said: string[] = [];
  await page.addInitScript(script);
  await page.route("**", (route) => {
    const name = route.request().url().slice(`${origin}/`.length);
    const isAsset = shell.includes(`"${name}"`) && /^[a-z-]+\.(?:html|js)$/.test(name);
    const contentType = name.endsWith(".js") ? "text/javascript" : "text/html";
    const headers = { "content-security-policy": constant("POLICY") };
    return isAsset
      ? route.fulfill({ path: path.join(folder, "assets", name), contentType, headers })
      : route.abort();
  });
  await page.exposeFunction("sayToShell", (message: string) => void said.push(message));
  await page.goto(`${origin}/${constant("PAGE")}`);
  await page.evaluate(`{
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = ({ data }) => window.sayToShell(data);
    window.dispatchEvent(new MessageEvent("message", { data: "scanner", ports: [port2] }));
  }`);
  return { page, problems, said };
}

test("the scanner hands over what codes say, once each and unread, and asks nothing of the network", async () => {
  const link = `https://id.example.com/verify/vs_${"Ab3x".repeat(16)}#handoff=${"x9Z_".repeat(11)}`;
  const texts = [
    "javascript:alert(1)",
    '<img src="https://evil.test/x" onerror="alert(1)">',
    "code code no-camera",
    "\u202ehttps://example.com/verify/vs_1\n\u0000",
    "https://evil.test/".repeat(30),
    link,
  ];
  show(texts[0] ?? "");
  const { page, problems, said } = await openScanner();
  for (const [index, text] of texts.entries()) {
    show(text);
    await until(`the code ${index} is read`, () => said.length > index);
  }
  await keepScreenshot(page, "android-scanner-390");
  assert.deepEqual(
    said,
    texts.map((text) => `code ${text}`),
  );
  assert.deepEqual(problems, []);
  await page.context().close();
});

test("without a camera, and when it is taken away, the scanner says so", async () => {
  const refused = await openScanner(
    "navigator.mediaDevices.getUserMedia = () => Promise.reject(new DOMException('', 'NotAllowedError'));",
  );
  await until("the refusal is reported", () => refused.said.includes("no-camera"));
  await refused.page.context().close();
  const taken = await openScanner();
  const isFilming = () => taken.page.evaluate<boolean>("document.querySelector('video').videoWidth > 0");
  await until("the camera is on", isFilming);
  await taken.page.evaluate(
    "document.querySelector('video').srcObject.getVideoTracks()[0].dispatchEvent(new Event('ended'))",
  );
  await until("the loss is reported", () => taken.said.includes("no-camera"));
  await taken.page.context().close();
});
