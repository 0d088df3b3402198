import type { FrameVoucher } from "@assay/device/drive-device";

declare global {
  // biome-ignore lint/style/useConsistentTypeDefinitions: merged into the declaration of the browser; a type cannot be.
  interface Window {
    frameVoucher?: FrameVoucher;
  }
}

/** What a shell around this page offers as `window.frameVoucher` (docs/shell.md), or null where there is none. */
export function shellVoucher(): FrameVoucher | null {
  const offered = window.frameVoucher;
  const isWhole = typeof offered?.makeKey === "function" && typeof offered.sign === "function";
  return offered !== undefined && isWhole ? offered : null;
}
