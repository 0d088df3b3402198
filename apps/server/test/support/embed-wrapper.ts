import assert from "node:assert/strict";
import { cpSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { rolldown } from "rolldown";
import { createPartner, expectData } from "./api.ts";
import { openBrowser } from "./browser.ts";
import { startTestService } from "./service.ts";

const examples = join(import.meta.dirname, "../../../../examples/embed");

/** The script of a page. `show(url)` shows or removes the component; `log` has what it reported. */
const entries = {
  "react.tsx": `import { createElement, StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { AssayVerification } from "./react.tsx";
window.log = [];
const root = createRoot(document.getElementById("place"));
const note = (name) => ({ status }) => window.log.push(name + " " + status);
window.show = (verificationUrl) => root.render(createElement(StrictMode, null, verificationUrl &&
  createElement(AssayVerification, { verificationUrl, onDone: note("done"), onClose: note("close") })));
`,
  "vue.js": `import { createApp, h, ref } from "vue";
import { AssayVerification } from "./vue.js";
window.log = [];
const shown = ref(null);
const note = (name) => ({ status }) => window.log.push(name + " " + status);
createApp({ render: () => shown.value &&
  h(AssayVerification, { key: shown.value, verificationUrl: shown.value, onDone: note("done"), onClose: note("close") }) }).mount("#place");
window.show = (verificationUrl) => { shown.value = verificationUrl; };
`,
};

/** `packages` is where the framework is installed. */
async function bundle(file: keyof typeof entries, packages: string): Promise<string> {
  const folder = mkdtempSync(join(packages, "embed-"));
  try {
    cpSync(join(examples, file), join(folder, file));
    writeFileSync(join(folder, "entry.js"), entries[file]);
    const made = await rolldown({
      input: join(folder, "entry.js"),
      platform: "browser",
      transform: { define: { "process.env.NODE_ENV": '"development"' } },
    });
    const { output } = await made.generate({ format: "iife", codeSplitting: false });
    await made.close();
    return output[0].code;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The component shows one frame, reports the end, and leaves nothing behind when it is removed. */
export async function checkWrapper(file: keyof typeof entries, packages: string): Promise<void> {
  const script = await bundle(file, packages);
  const { api } = await startTestService();
  const server = createServer((request, response) => {
    const isScript = request.url === "/page.js";
    response.setHeader("content-type", `${isScript ? "text/javascript" : "text/html"}; charset=utf-8`);
    response.end(
      isScript
        ? script
        : '<!doctype html><html lang="en"><title>Shop</title><link rel="icon" href="data:,"><div id="place"></div><script src="/page.js"></script>',
    );
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", () => resolve()));
  try {
    const origin = `http://localhost:${(server.address() as AddressInfo).port}`;
    const partner = await createPartner(api);
    const newSession = async (): Promise<string> =>
      expectData(await partner.api.post("/v1/sessions", { embed_origin: origin }), 201).verification_url;
    const page = await (await openBrowser()).newPage();
    const problems: string[] = [];
    page.on("pageerror", (error) => problems.push(error.message));
    await page.goto(origin);
    const show = (url: string | null) => page.evaluate(`show(${JSON.stringify(url)})`);
    const reported = () => page.evaluate<string[]>("window.log");
    const frame = page.frameLocator("iframe");

    await show(await newSession());
    await frame.getByRole("heading", { level: 1, name: / asks you / }).waitFor();
    assert.equal(await page.locator("iframe").count(), 1);
    await frame.getByRole("button", { name: "No, cancel" }).press("Enter");
    await frame.getByRole("button", { name: "Yes, cancel" }).press("Enter");
    await page.locator("iframe").waitFor({ state: "detached" });
    assert.deepEqual(await reported(), ["done cancelled", "close cancelled"]);

    // Another session, removed by the page before its end: nothing is reported.
    await show(await newSession());
    await frame.getByRole("heading", { level: 1, name: / asks you / }).waitFor();
    await show(null);
    await page.locator("iframe").waitFor({ state: "detached" });
    assert.equal((await reported()).length, 2);
    assert.equal(await page.locator("script[src$='/embed/v1.js']").count(), 1);
    assert.deepEqual(problems, []);
  } finally {
    server.closeAllConnections();
    server.close();
  }
}
