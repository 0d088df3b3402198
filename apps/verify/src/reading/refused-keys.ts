import type { DeviceView } from "@assay/device/device-view";

/** Refusals in a row before we ask to scan again. */
const maxRefusedKeys = 3;

type RefusedKeys = {
  /** In a row, since the chip was opened last. */
  readonly count: number;
  /** Whether the last thing that was seen is a refusal, which is then not counted again. */
  readonly isRefused: boolean;
};

export const nothingRefused: RefusedKeys = { count: 0, isRefused: false };

/**
 * Counts the keys that the chip refused, to decide when to ask the person to scan again. Refusals use up no
 * try. A chip that slipped away says nothing about the key.
 */
export function countRefusals(
  before: RefusedKeys,
  view: Pick<DeviceView, "reading" | "problem" | "phase"> | null,
): RefusedKeys {
  if (view === null) return before;
  if (view.phase !== null && view.phase !== "chip") return nothingRefused;
  const isRefused = !view.reading && view.problem === "key";
  if (isRefused === before.isRefused) return before;
  return { count: before.count + (isRefused ? 1 : 0), isRefused };
}

/** After three in a row what was read or typed is all wrong, and is read again from the document. */
export function isSentBack({ count, isRefused }: RefusedKeys): boolean {
  return isRefused && count % maxRefusedKeys === 0;
}
