import test, { after } from "node:test";
import { createServer } from "vite";
import { checkAccessibility, keepScreenshot, keepsScreenshots, openBrowser } from "../../support/browser.ts";
import { checkPicture } from "../../support/same-picture.ts";

const root = new URL("../../../../verify/", import.meta.url).pathname;
const vite = await createServer({ root, logLevel: "error", server: { port: 0, hmr: false, ws: false } });
await vite.listen();
after(() => vite.close());
const browser = await openBrowser();

test("the parts of the pages look as they did, and are accessible in both schemes", async () => {
  const [address = ""] = vite.resolvedUrls?.local ?? [];
  const context = await browser.newContext({
    viewport: { width: 1000, height: 2300 },
    reducedMotion: "reduce",
  });
  const page = await context.newPage();
  await page.goto(new URL("gallery.html", address).href);
  await page.getByRole("heading", { name: "Drawings" }).waitFor();
  for (const colorScheme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme });
    await checkAccessibility(page, colorScheme === "light" ? "all" : "contrast");
    await checkPicture(page, `gallery-${colorScheme}`);
    if (keepsScreenshots) await keepScreenshot(page, `gallery-1440-${colorScheme}`);
  }
  await context.close();
});
