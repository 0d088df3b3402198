import { type TProperties, type TSchema, Type } from "typebox";
import { closed, Nullable, open } from "./schema.ts";

export const defaultPageLimit = 10;
export const maxPageLimit = 100;

export const Pagination = open("Pagination", {
  limit: Type.Integer({ description: "Page size in effect.", examples: [10] }),
  has_more: Type.Boolean({ description: "False on the last page and in every error response." }),
  next_cursor: Nullable(
    Type.String({
      description:
        "Cursor of the last item of the page, to be passed as `starting_after`; with `ending_before`, of the first item, to be passed as `ending_before`.",
    }),
  ),
});

/** The query of a list route: its filters, `limit`, and `starting_after` in the form of the items' ids. */
export function pageQuery<P extends TProperties, C extends TSchema>(cursor: C, filters: P) {
  return closed({
    ...filters,
    limit: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: maxPageLimit,
        default: defaultPageLimit,
        description: "Page size.",
      }),
    ),
    starting_after: Type.Optional({
      ...cursor,
      description: "Return the page after the item with this id.",
    } as C),
  });
}

/**
 * The same for lists that partners read, which go both ways:
 * `ending_before` returns items newer than a given one.
 */
export function partnerPageQuery<P extends TProperties, C extends TSchema>(cursor: C, filters: P) {
  const { properties } = pageQuery(cursor, filters);
  return closed({
    ...properties,
    ending_before: Type.Optional({
      ...cursor,
      description:
        "Return the next newer items before the one with this id. Not together with `starting_after`.",
    } as C),
  });
}
