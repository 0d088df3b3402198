import type { FrameVoucher } from "@assay/device/drive-device";

declare global {
  // biome-ignore lint/style/useConsistentTypeDefinitions: merged into the declaration of the browser; a type cannot be.
  interface Window {
    frameVoucher?: FrameVoucher;
  }
}

/** The `window.frameVoucher` of a shell around this page (docs/shell.md), or null. */
export function shellVoucher(): FrameVoucher | null {
  const offered = window.frameVoucher;
  const isWhole = typeof offered?.makeKey === "function" && typeof offered.sign === "function";
  return offered !== undefined && isWhole ? offered : null;
}
