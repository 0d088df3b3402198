import type { Browser, Page } from "playwright-core";
import { openPage } from "./browser.ts";

/** Chromium logs every answer with an error; that is no fault of the page. */
export function faults(problems: readonly string[]): string[] {
  return problems.filter((problem) => !problem.startsWith("console: Failed to load resource"));
}

/** A page of the dashboard; with a token, of a signed-in user. */
export async function openDashboard(
  browser: Browser,
  origin: string,
  options: { width?: number; colorScheme?: "light" | "dark"; token?: string; locale?: string } = {},
) {
  const opened = await openPage(browser, origin, options);
  opened.page.setDefaultTimeout(15_000);
  if (options.token !== undefined)
    await opened.page.context().addCookies([{ name: "assay_session", value: options.token, url: origin }]);
  return opened;
}

/**
 * Opens one page again and again, each time as a browser that never was there: a new one costs as much of the
 * processor as loading a page. Not for tests with init scripts or routes, which would stay, nor
 * for those that need an empty cache.
 */
export function dashboardInTurn(browser: Browser, origin: string) {
  let opened: ReturnType<typeof openDashboard> | undefined;
  return async (options: { token?: string } = {}) => {
    opened ??= openDashboard(browser, origin);
    const { page, problems } = await opened;
    // In one step, so that the page that is left writes nothing after it.
    if (page.url().startsWith(origin))
      await page.evaluate("localStorage.clear(), sessionStorage.clear(), location.replace('about:blank')");
    await page.waitForURL("about:blank");
    const context = page.context();
    await context.setOffline(false);
    for (const other of context.pages()) if (other !== page) await other.close();
    await context.clearCookies();
    if (options.token !== undefined)
      await context.addCookies([{ name: "assay_session", value: options.token, url: origin }]);
    await page.setViewportSize({ width: 1440, height: 900 });
    await page.emulateMedia({ colorScheme: "light", forcedColors: "none" });
    problems.length = 0;
    return { page, problems };
  };
}

/** As a link of the page would, without loading the program again. */
export async function goInside(page: Page, path: string): Promise<void> {
  await page.evaluate(
    `history.pushState(null, "", ${JSON.stringify(path)}), dispatchEvent(new PopStateEvent("popstate"))`,
  );
}

/** The page with this title. A page about one thing has its time behind it. */
export function heading(page: Page, name: string): Promise<void> {
  const title = new RegExp(`^${name.replace(/[.?*+^$()[\]{}|\\]/g, "\\$&")}((?: of|,) \\d.*)?$`);
  return page.getByRole("heading", { level: 1, name: title }).waitFor();
}

export function button(page: Page, name: string) {
  return page.getByRole("button", { name, exact: true });
}
