import type { Page } from "@assay/contract/route";
import { ApiError } from "./api-error.ts";

/** A page of rows as the wire shows it: stores read rows, routes turn them into what leaves the service. */
export async function viewPage<R, T>(reading: Promise<Page<R>>, view: (row: R) => T): Promise<Page<T>> {
  const page = await reading;
  return { ...page, items: page.items.map(view) };
}

/** The item that a page begins behind, or the one that it ends before. */
export type PageStart<Id> = { startingAfter?: Id | undefined; endingBefore?: Id | undefined };

/** What the query of a list says about its page. */
export function parsePage<Id>(query: {
  limit: number;
  starting_after?: Id | undefined;
  ending_before?: Id | undefined;
}): PageStart<Id> & { limit: number } {
  const { limit, starting_after: startingAfter, ending_before: endingBefore } = query;
  if (startingAfter !== undefined && endingBefore !== undefined)
    throw new ApiError("INVALID_REQUEST", {
      message: "`starting_after` and `ending_before` do not go together.",
      hint: "Send the one for the direction in which you read.",
    });
  return { limit, startingAfter, endingBefore };
}
