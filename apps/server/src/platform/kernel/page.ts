import type { Page } from "@assay/contract/route";
import { ApiError } from "./api-error.ts";

/** Turns a page of rows into its wire form: stores read rows, routes view them. */
export async function viewPage<R, T>(reading: Promise<Page<R>>, view: (row: R) => T): Promise<Page<T>> {
  const page = await reading;
  return { ...page, items: page.items.map(view) };
}

/** The item after which a page begins, or before which it ends. */
export type PageStart<Id> = { startingAfter?: Id | undefined; endingBefore?: Id | undefined };

/** The paging parameters of a list's query. */
export function parsePage<Id>(query: {
  limit: number;
  starting_after?: Id | undefined;
  ending_before?: Id | undefined;
}): PageStart<Id> & { limit: number } {
  const { limit, starting_after: startingAfter, ending_before: endingBefore } = query;
  if (startingAfter !== undefined && endingBefore !== undefined)
    throw new ApiError("INVALID_REQUEST", {
      message: "`starting_after` and `ending_before` cannot be combined.",
      hint: "Send only the one for your reading direction.",
    });
  return { limit, startingAfter, endingBefore };
}
