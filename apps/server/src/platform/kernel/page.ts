import type { Page } from "@assay/contract/route";

/** A page of rows as the wire shows it: stores read rows, routes turn them into what leaves the service. */
export async function viewPage<R, T>(reading: Promise<Page<R>>, view: (row: R) => T): Promise<Page<T>> {
  const page = await reading;
  return { ...page, items: page.items.map(view) };
}
