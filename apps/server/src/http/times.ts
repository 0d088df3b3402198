import { badField } from "./api-error.ts";

const isoPattern = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d{1,9})?(Z|[+-]\d{2}:\d{2})$/;

/** A moment given by a caller; undefined stays undefined. The schema's format is not enough: 31 February has it too. */
export function parseTime(field: string, text: string): Date;
export function parseTime(field: string, text: string | undefined): Date | undefined;
export function parseTime(field: string, text: string | undefined): Date | undefined {
  if (text === undefined) return undefined;
  const time = new Date(text);
  if (!isoPattern.test(text) || Number.isNaN(time.getTime())) {
    throw badField(field, "must be an ISO 8601 time with a zone, for example 2026-03-01T09:30:00Z");
  }
  return time;
}
