import type { ReadStep } from "@assay/device/device-state";
import type { ChipTransport } from "@assay/emrtd/apdu/transport";

/** The `window.chipTransport` of a shell around this page; see docs/shell.md. */
export type ShellTransport = ChipTransport & {
  /** Ends a reading in progress: closes the phone's dialogue and releases the chip. */
  cancel(): void;
  /** For the phone's own dialogue, where it has one that covers the page. */
  showProgress?(step: ReadStep): void;
  /** Whether the reader can be used now. The window's event `chiptransportchange` reports a change. */
  readonly readerState?: "ready" | "off" | "absent";
  /** Opens the place where the person turns the reader on. */
  openReaderSettings?(): void;
  /**
   * Where the device's back reads best, seen from the front:
   * 0 is the top and left edge, 1 the bottom and right edge.
   */
  readonly antenna?: ShellAntenna | null;
  /** Like sessionStorage, but survives the end of the app's process. */
  readonly storage?: Pick<Storage, "getItem" | "setItem" | "removeItem">;
  /** Vibrates when everything was read, or when reading failed. */
  feel?(what: "read" | "problem"): void;
};

type ShellAntenna = {
  readonly at: "top" | "middle" | "bottom";
  readonly fromTop: number;
  readonly fromLeft: number;
  /** The device itself, or a default of its maker. */
  readonly toldBy: "phone" | "maker";
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
