import { ApiError, badField } from "./api-error.ts";

const isoPattern = /^(\d{4}-\d{2}-\d{2})T\d{2}:\d{2}:\d{2}(\.\d{1,9})?(Z|[+-]\d{2}:\d{2})$/;

/**
 * A time from a caller; undefined stays undefined. The schema's format is not enough: 31 February matches it.
 */
export function parseTime(field: string, text: string): Date;
export function parseTime(field: string, text: string | undefined): Date | undefined;
export function parseTime(field: string, text: string | undefined): Date | undefined {
  if (text === undefined) return undefined;
  const time = new Date(text);
  const day = isoPattern.exec(text)?.[1];
  if (day === undefined || Number.isNaN(time.getTime()) || !isDay(day)) {
    throw badField(field, "must be an ISO 8601 time with a zone, for example 2026-03-01T09:30:00Z");
  }
  return time;
}

/** `Date` turns 31 February into a day in March. */
export function isDay(text: string): boolean {
  const midnight = new Date(`${text}T00:00:00.000Z`);
  return !Number.isNaN(midnight.getTime()) && midnight.toISOString().startsWith(text);
}

/** A period with both ends. If it ends before it begins, it is an error, not an empty list. */
export function parsePeriod(query: { created_from: string; created_to: string }): {
  createdFrom: Date;
  createdTo: Date;
} {
  const createdFrom = parseTime("created_from", query.created_from);
  const createdTo = parseTime("created_to", query.created_to);
  assertOrder(createdFrom, createdTo);
  return { createdFrom, createdTo };
}

function assertOrder(createdFrom: Date, createdTo: Date): void {
  if (createdFrom > createdTo)
    throw new ApiError("PERIOD_INVALID", { message: "`created_from` must not be later than `created_to`." });
}

/** The bounds of a list by creation time; each is optional. */
export function parseCreated(query: { created_from?: string | undefined; created_to?: string | undefined }): {
  createdFrom: Date | undefined;
  createdTo: Date | undefined;
} {
  const createdFrom = parseTime("created_from", query.created_from);
  const createdTo = parseTime("created_to", query.created_to);
  if (createdFrom !== undefined && createdTo !== undefined) assertOrder(createdFrom, createdTo);
  return { createdFrom, createdTo };
}
