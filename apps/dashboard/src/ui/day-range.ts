import { t } from "../i18n/words.ts";
import { buttonClass } from "./button.tsx";
import { dayText } from "./times.ts";

/** Days as `2026-11-15`, both included; undefined is open. */
export type Range = { from: string | undefined; to: string | undefined };

export type DateRangeProps = {
  label: string;
  range: Range;
  /** The label if nothing is chosen. */
  open: string;
  onChange: (range: Range) => void;
  /** The last day that can be chosen; by default the reader's today. */
  today?: string | undefined;
};

export function rangeText({ from, to }: Range, open: string): string {
  const text = (day: string) => dayText(new Date(`${day}T12:00:00`));
  if (from === undefined && to === undefined) return open;
  if (from === to && from !== undefined) return text(from);
  if (to === undefined) return from === undefined ? open : t.ui.range.since(text(from));
  return from === undefined ? t.ui.range.until(text(to)) : `${text(from)} – ${text(to)}`;
}

export const rangeButtonClass = `${buttonClass("plain", true)} min-h-10 justify-start font-normal max-sm:w-full`;
