// `npm run screens`: walks every screen of the verify page and of the dashboard, and the gallery of their parts, and lays the pictures beside each other on sheets in
// `test-artifacts/sheets`, one for each width and scheme.
import { spawnSync } from "node:child_process";
import { globSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import path from "node:path";
import { chromium } from "playwright-core";

const root = new URL("../", import.meta.url).pathname;
const pictures = path.join(root, "test-artifacts");
const sheets = path.join(pictures, "sheets");
const parts = process.argv.slice(2);

rmSync(sheets, { recursive: true, force: true });
mkdirSync(sheets, { recursive: true });
if (!parts.includes("--sheets-only")) {
  for (const old of globSync(`${pictures}/{verify,gallery,dashboard,environment}-*.png`)) rmSync(old);
  const walked = spawnSync(
    process.execPath,
    [
      "scripts/test.ts",
      ...(parts.length > 0
        ? parts
        : ["verify.browser", "verify-phone.browser", "gallery", "dashboard-pages"]),
    ],
    { cwd: root, stdio: "inherit", env: { ...process.env, ASSAY_SCREENSHOTS: "1" } },
  );
  if (walked.status !== 0) process.exitCode = 1;
}

const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM_PATH ?? "/usr/bin/chromium",
  args: ["--no-sandbox", "--disable-gpu"],
});
const page = await browser.newPage({ viewport: { width: 1800, height: 900 } });
for (const width of [320, 390, 1440])
  for (const scheme of ["light", "dark"]) {
    const files = globSync(`${pictures}/*-${width}-${scheme}.png`).sort();
    if (files.length === 0) continue;
    const shown = width === 1440 ? 560 : 270;
    const cells = files.map((file) => {
      const name = path.basename(file).replace(`-${width}-${scheme}.png`, "");
      const data = readFileSync(file).toString("base64");
      return `<figure><figcaption>${name}</figcaption><img width="${shown}" src="data:image/png;base64,${data}"></figure>`;
    });
    await page.setContent(
      `<style>body{margin:16px;font:14px sans-serif;background:#888;display:flex;flex-wrap:wrap;gap:16px;align-items:start}figure{margin:0}figcaption{margin-bottom:4px;color:#fff}img{display:block}</style>${cells.join("")}`,
    );
    const sheet = path.join(sheets, `${width}-${scheme}.png`);
    await page.screenshot({ path: sheet, fullPage: true });
    process.stdout.write(`${path.relative(root, sheet)}: ${files.length} screens\n`);
  }
await browser.close();
