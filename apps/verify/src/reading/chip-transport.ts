import type { ReadStep } from "@assay/device/device-flow";
import type { ChipTransport } from "@assay/emrtd/apdu/transport";

/** What a shell around this page offers as `window.chipTransport`; see docs/reading-devices.md. */
export type ShellTransport = ChipTransport & {
  /** Ends a reading that is under way: closes the phone's own dialogue and lets the chip go. */
  cancel(): void;
  /** For the phone's own dialogue, where it has one that covers the page. */
  showProgress?(step: ReadStep): void;
};

declare global {
  // biome-ignore lint/style/useConsistentTypeDefinitions: merged into the declaration of the browser; a type cannot be.
  interface Window {
    chipTransport?: ShellTransport;
  }
}

/** The shell's transport, or null where the page runs in a plain browser. */
export function shellTransport(): ShellTransport | null {
  const offered = window.chipTransport;
  return offered !== undefined && typeof offered.transceive === "function" ? offered : null;
}
