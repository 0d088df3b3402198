import type { Input, Pagination } from "@assay/contract/client";
import type { RouteDefinition } from "@assay/contract/route";
import { call } from "../api/call.ts";
import { t } from "../i18n/words.ts";
import { csvOf, saveCsv } from "./csv.ts";
import { toast } from "./toasts.tsx";

/** A larger export would take long and exceed what spreadsheets open. Users can choose fewer days. */
const maxExported = 10_000;

type Cell = string | number | null;

/** Exports every entry that matches the filters of a list, not only those on the page, as CSV. */
export async function exportList<T>(
  route: RouteDefinition,
  query: Record<string, unknown>,
  file: { name: string; heads: readonly string[]; row: (item: T) => readonly Cell[] },
): Promise<void> {
  const parts = [csvOf([file.heads])];
  let count = 0;
  let after: string | null = null;
  do {
    const asked = { ...query, limit: 100, ...(after === null ? {} : { starting_after: after }) };
    const page = (await call(route, { query: asked } as unknown as Input<typeof route>)) as unknown as {
      data: T[];
      pagination: Pagination;
    };
    parts.push(csvOf(page.data.map(file.row)));
    count += page.data.length;
    after = page.pagination.has_more ? page.pagination.next_cursor : null;
  } while (after !== null && count < maxExported);
  saveCsv(`${file.name}-${new Date().toISOString().slice(0, 10)}.csv`, parts);
  toast(after === null ? t.ui.exported(count) : t.ui.exportedLatest(count), after === null ? "good" : "warn");
}
