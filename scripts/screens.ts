// `npm run screens`: walks the screens of the verify page and the dashboard, the start page, a shop that
// frames it, the gallery and the mails. Lays the pictures on sheets in `test-artifacts/sheets`, one per width
// and scheme.
import { spawnSync } from "node:child_process";
import { globSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import path from "node:path";
import { chromium, type Page } from "playwright-core";
import { composeMail } from "../apps/server/src/platform/mails/compose-mail.ts";
import { type Letter, letterKinds } from "../apps/server/src/platform/mails/letter.ts";
import { html } from "../apps/server/src/platform/mails/mail.ts";
import { neededBrowser } from "./find-browser.ts";

const root = new URL("../", import.meta.url).pathname;
const pictures = path.join(root, "test-artifacts");
const sheets = path.join(pictures, "sheets");
const parts = process.argv.slice(2);

/** As many as are recognizable on one sheet; of a long screen its beginning. */
const screensOnSheet = 18;

/** Sample values for the places of a mail. */
const samples: Readonly<Record<string, string | Date>> = {
  email: "ada@example.com",
  name: "Work laptop",
  organization: "Harbour Hotel",
  inviter: "Grace Hopper",
  person: "Grace Hopper",
  role: "admin",
  code: "7KQ2MWXB",
  at: new Date("2026-03-14T09:30:00Z"),
  domain: "harbour.example",
  record: "_service-verification.harbour.example",
  receipt: `eyJhbGciOiJFZERTQSIsImtpZCI6IjIwMjYifQ.${"eyJvcmdhbml6YXRpb24iOi".repeat(12)}.${"Zr7LwTn2VbXyA5sDe8Gh".repeat(4)}`,
  keys: "https://id.example/v1/auth/deletion-receipt-keys",
  signer: "Utopia Document Signer 7",
  list: "UTO-2026-03.crl",
  address: "https://lists.example/master.ml",
  count: "3",
  names: "Utopia, Ruritania, Syldavia",
  keep: "npm run assay -- trust keep 41",
  remove: "npm run assay -- trust remove 41",
  endpoint: "https://harbour.example/webhooks",
  reset: "https://id.example/dashboard/forgot-password",
};

const executablePath = neededBrowser();
rmSync(sheets, { recursive: true, force: true });
mkdirSync(sheets, { recursive: true });
if (!parts.includes("--sheets-only")) {
  for (const old of globSync(
    `${pictures}/{verify,phone,wallet,gallery,dashboard,environment,page,embed,shop,mail}-*.png`,
  ))
    rmSync(old);
  const walked = spawnSync(
    process.execPath,
    [
      "scripts/test.ts",
      ...(parts.length > 0
        ? parts
        : [
            "verify.browser",
            "verify-phone.browser",
            "verify-face.browser",
            "verify-scan.browser",
            "verify-languages",
            "verify-requirements",
            "wallet.browser",
            "dashboard-evidence",
            "gallery",
            "dashboard-pages",
            "dashboard.browser",
            "/pages.browser",
            "embedding",
          ]),
    ],
    { cwd: root, stdio: "inherit", env: { ...process.env, ASSAY_SCREENSHOTS: "1" } },
  );
  if (walked.status !== 0) process.exitCode = 1;
}

const browser = await chromium.launch({
  executablePath,
  args: ["--no-sandbox", "--disable-gpu"],
});
if (!parts.includes("--sheets-only")) await keepMails(await browser.newPage());
const page = await browser.newPage({ viewport: { width: 1800, height: 900 } });
for (const width of [320, 390, 700, 900, 1440])
  for (const scheme of ["light", "dark"]) {
    const files = globSync(`${pictures}/*-${width}-${scheme}.png`).sort();
    const shown = width > 600 ? 560 : 270;
    for (let first = 0; first < files.length; first += screensOnSheet) {
      const cells = files.slice(first, first + screensOnSheet).map((file) => {
        const name = path.basename(file).replace(`-${width}-${scheme}.png`, "");
        const data = readFileSync(file).toString("base64");
        return `<figure><figcaption>${name}</figcaption><img width="${shown}" src="data:image/png;base64,${data}"></figure>`;
      });
      await page.setContent(
        `<style>body{margin:16px;font:14px sans-serif;background:#888;display:flex;flex-wrap:wrap;gap:16px;align-items:start}figure{margin:0}figcaption{margin-bottom:4px;color:#fff}img{display:block;max-height:640px;object-fit:cover;object-position:top}</style>${cells.join("")}`,
      );
      const sheet = path.join(sheets, `${width}-${scheme}-${1 + first / screensOnSheet}.png`);
      await page.screenshot({ path: sheet, fullPage: true });
      process.stdout.write(`${path.relative(root, sheet)}: ${cells.length} screens\n`);
    }
  }
await browser.close();

/** On a phone, and as wide as a mail gets in a program with a list beside it. */
async function keepMails(page: Page): Promise<void> {
  for (const [kind, { places, button }] of Object.entries(letterKinds)) {
    const fill = Object.fromEntries(places.map((place) => [place, samples[place] ?? place]));
    const letter = { kind, fill, ...(button ? { url: `https://id.example/${kind}#token=x` } : {}) } as Letter;
    const mail = composeMail(
      "ada@example.com",
      letter,
      { name: "Ada Lovelace", language: "en" },
      { publicUrl: "https://id.example", organization: "Harbour Hotel" },
    );
    await page.setContent(html(mail));
    for (const [width, colorScheme] of [
      [390, "light"],
      [390, "dark"],
      [700, "dark"],
    ] as const) {
      await page.setViewportSize({ width, height: 600 });
      await page.emulateMedia({ colorScheme });
      await page.screenshot({
        path: path.join(pictures, `mail-${kind}-${width}-${colorScheme}.png`),
        fullPage: true,
      });
    }
  }
}
