import { useSyncExternalStore } from "react";
import type { ShellTransport } from "../device/chip-transport.ts";

const changeEvent = "chiptransportchange";

function subscribe(listener: () => void): () => void {
  window.addEventListener(changeEvent, listener);
  return () => window.removeEventListener(changeEvent, listener);
}

/** Whether the phone's reader can be used now, as far as the shell says it. */
export function useReaderState(shell: ShellTransport | null): NonNullable<ShellTransport["readerState"]> {
  return useSyncExternalStore(subscribe, () => shell?.readerState ?? "ready");
}
