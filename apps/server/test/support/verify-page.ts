import type { Page } from "playwright-core";

/** What a person does on the verify page, in English. */
export const heading = (page: Page, name: string) => page.getByRole("heading", { level: 1, name });

export async function agree(page: Page, optional: readonly string[] = []): Promise<void> {
  for (const label of optional) await page.getByRole("checkbox", { name: label }).check();
  await page.getByRole("checkbox", { name: "I agree to the check" }).check();
  await page.getByRole("button", { name: "Agree and continue" }).click();
  await page.getByRole("checkbox", { name: "I agree to the check" }).waitFor({ state: "detached" });
}

/** Opens what is folded under these words. */
export async function unfold(page: Page, title: string): Promise<void> {
  await page.locator("summary").filter({ hasText: title }).click();
}

export async function readTestPassport(page: Page, title: string): Promise<void> {
  const document = page.getByRole("radio", { name: new RegExp(`^${title}`) });
  const all = page.getByRole("button", { name: "Show all" });
  await document.or(all).first().waitFor();
  // Only the first few are listed at once.
  if ((await document.count()) === 0) await all.click();
  await document.check();
  await page.getByRole("button", { name: "Read this document" }).click();
}

export async function untilTold(page: Page, text: string): Promise<void> {
  await page.getByRole("alert").filter({ hasText: text }).waitFor();
}
