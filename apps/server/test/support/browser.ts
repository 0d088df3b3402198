import assert from "node:assert/strict";
import { mkdirSync, readFileSync } from "node:fs";
import { after } from "node:test";
import { fileURLToPath } from "node:url";
import { type Browser, chromium, type Page } from "playwright-core";
import { pagesOfTheWindow } from "../../../../scripts/chromium-window.ts";

const artifacts = new URL("../../../../test-artifacts/", import.meta.url).pathname;

/**
 * Chromium uses only the last such switch, so this repeats what Playwright turns off. Parts of the browser's
 * window that are pages are off too: they took a quarter of the time of the browser tests.
 */
const disabledFeatures = [
  "AvoidCorsURLLoaderRestartOnRedirect",
  "AvoidUnnecessaryBeforeUnloadCheckSync",
  "DestroyProfileOnBrowserClose",
  "HttpsFirstBalancedModeAutoEnable",
  "HttpsUpgrades",
  "LensOverlay",
  "MediaRouter",
  "NetworkTimeServiceQuerying",
  "OptimizationHints",
  "PaintHolding",
  "PreconnectToSearch",
  "SkipIPCChannelPausingForNonGuests",
  "ThirdPartyStoragePartitioning",
  "Translate",
  ...pagesOfTheWindow,
] as const;

/**
 * CHROMIUM_PATH, which the test command sets, may be the headless shell: it takes a third less of the
 * processor. `whole` uses the full browser, for cookie settings, restored pages and windows. `keepsPages`
 * turns on the back/forward cache, which Playwright turns off.
 */
export async function openBrowser(
  args: readonly string[] = [],
  options: { whole?: boolean; keepsPages?: boolean } = {},
): Promise<Browser> {
  const named = options.whole ? process.env.CHROMIUM_WHOLE_PATH : process.env.CHROMIUM_PATH;
  const browser = await chromium.launch({
    executablePath: named ?? "/usr/bin/chromium",
    ...(options.keepsPages ? { ignoreDefaultArgs: ["--disable-back-forward-cache"] } : {}),
    args: [
      "--no-sandbox",
      "--disable-gpu",
      "--disable-quic",
      "--no-first-run",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
      `--disable-features=${disabledFeatures.join(",")}`,
      ...args,
    ],
  });
  after(() => browser.close());
  return browser;
}

const phoneScreen = { viewport: { width: 390, height: 844 }, screen: { width: 390, height: 844 } };

/** The user agents of these devices. */
const devices = {
  android: {
    ...phoneScreen,
    hasTouch: true,
    isMobile: true,
    userAgent:
      "Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/130.0.0.0 Mobile Safari/537.36",
  },
  iphone: {
    ...phoneScreen,
    hasTouch: true,
    isMobile: true,
    userAgent:
      "Mozilla/5.0 (iPhone; CPU iPhone OS 17_4 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.4 Mobile/15E148 Safari/604.1",
  },
  ipad: {
    viewport: { width: 820, height: 1180 },
    screen: { width: 820, height: 1180 },
    hasTouch: true,
    isMobile: true,
    userAgent:
      "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.4 Safari/605.1.15",
  },
} as const;

/** A page that fails the test if it requests anything from another origin, or if an error occurs in it. */
export async function openPage(
  browser: Browser,
  origin: string,
  options: {
    width?: number;
    colorScheme?: "light" | "dark";
    device?: keyof typeof devices;
    /** What the browser asks for, such as `de-DE`. */
    locale?: string;
  } = {},
) {
  const context = await browser.newContext({
    viewport: { width: options.width ?? 1440, height: 900 },
    ...(options.device === undefined ? {} : devices[options.device]),
    colorScheme: options.colorScheme ?? "light",
    ...(options.locale === undefined ? {} : { locale: options.locale }),
    reducedMotion: "reduce",
  });
  const page = await context.newPage();
  const problems: string[] = [];
  page.on("request", (request) => {
    const address = request.url();
    if (!address.startsWith(origin) && !/^(data|blob):/.test(address))
      problems.push(`asked another origin: ${address}`);
  });
  page.on("console", (message) => {
    if (message.type() === "error") problems.push(`console: ${message.text()}`);
  });
  page.on("pageerror", (error) => problems.push(`script: ${error.message}`));
  return { page, problems };
}

/**
 * Records, as each heading of a page appears, the window's title and whether the heading has the focus. Call
 * it before the page is loaded, and the result to read the record.
 */
export async function watchHeadings(page: Page) {
  await page.addInitScript(`window.headings = [];
    new MutationObserver(() => {
      const heading = document.querySelector("h1");
      const [text] = window.headings.at(-1) ?? [];
      if (heading === null || heading.textContent === text) return;
      window.headings.push([heading.textContent, document.title, document.activeElement === heading]);
    }).observe(document, { childList: true, subtree: true, characterData: true });`);
  return () => page.evaluate<[heading: string, title: string, hasFocus: boolean][]>("window.headings");
}

/** Injected once for each page: reading it for every check took as long as the check. */
const axeScript = readFileSync(fileURLToPath(import.meta.resolve("axe-core/axe.min.js")), "utf8");

/**
 * WCAG 2.2 AA, as far as a machine can check. `contrast`: for a page whose structure was checked.
 * `structure`: for pages with the styles of a checked one, because contrast takes most of the time. Includes
 * frames of the same origin.
 */
export async function checkAccessibility(
  page: Page,
  what: "all" | "contrast" | "structure" = "all",
): Promise<void> {
  for (const frame of page.frames())
    if (!(await frame.evaluate<boolean>('"axe" in window'))) await frame.evaluate(axeScript);
  const options = {
    // Describing passed rules takes most of the time and is not needed.
    resultTypes: ["violations"],
    runOnly:
      what === "contrast"
        ? { type: "rule", values: ["color-contrast"] }
        : { type: "tag", values: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"] },
    rules: what === "structure" ? { "color-contrast": { enabled: false } } : {},
  };
  // All parts are laid out, because unrendered ones would be measured at a wrong position. `region` is not a
  // rule of WCAG: a user who moves by landmarks misses content outside of them. An open popover has the focus
  // and needs none.
  const found = await page.evaluate<string[]>(
    `(async (options) => {
      for (const { style } of document.querySelectorAll(".part"))
        [style.contentVisibility, style.animation] = ["visible", "none"];
      if (${what !== "contrast"} && document.querySelector("div[data-placement]") === null)
        options.rules.region = { enabled: true };
      const { violations } = await axe.run(document, options);
      return violations.map(({ id, nodes }) => id + ": " + nodes.map((node) => node.target.join(" ")).join(", "));
    })(${JSON.stringify(options)})`,
  );
  assert.deepEqual(found, []);
}

export async function isWiderThanScreen(page: Page): Promise<boolean> {
  // A chart takes its new width in a frame after the window's, so a page is given time to fit.
  for (let round = 0; round < 60; round++) {
    // Runs in the browser, whose globals the server's types lack.
    const isWider = await page.evaluate<boolean>(
      "document.documentElement.scrollWidth > document.documentElement.clientWidth",
    );
    if (!isWider) return false;
    await page.waitForTimeout(50);
  }
  return true;
}

/**
 * Every screen in both schemes by every rule, which takes minutes. `packages/ui` tests the colours, so one
 * scheme is enough otherwise.
 */
export const looksAtAll = process.env.ASSAY_EVERY_PAGE !== undefined;

/** Only on demand: hundreds of pictures cost the suite a minute. */
export const keepsScreenshots = process.env.ASSAY_SCREENSHOTS !== undefined;

/** The looks in which a person looks at what is kept: a phone and a desktop, light and dark. */
export const keptLooks = [
  [1440, "light"],
  [1440, "dark"],
  [390, "light"],
  [390, "dark"],
] as const;

/** Takes pictures in every look of a page that cannot be opened again, then restores it. */
export async function keepLooks(page: Page, name: string): Promise<void> {
  if (!keepsScreenshots) return;
  const before = page.viewportSize() ?? { width: 1440, height: 900 };
  const isDark = await page.evaluate<boolean>("matchMedia('(prefers-color-scheme: dark)').matches");
  for (const [width, colorScheme] of keptLooks) {
    await page.setViewportSize({ width, height: 900 });
    await page.emulateMedia({ colorScheme });
    await keepScreenshot(page, `${name}-${width}-${colorScheme}`);
  }
  await page.setViewportSize(before);
  await page.emulateMedia({ colorScheme: isDark ? "dark" : "light" });
}

/** Kept for a person to look at: test-artifacts/NAME.png. */
export async function keepScreenshot(page: Page, name: string): Promise<void> {
  if (!keepsScreenshots) return;
  mkdirSync(artifacts, { recursive: true });
  await page.screenshot({ path: `${artifacts}${name}.png`, fullPage: false });
}
