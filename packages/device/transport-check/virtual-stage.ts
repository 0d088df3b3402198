import type { TestDocument } from "@assay/emrtd/virtual/test-document";
import { createVirtualChip } from "@assay/emrtd/virtual/virtual-chip";
import type { CheckedTransport, TransportStage } from "./check-transport.ts";

/**
 * A software chip on a software reader, placed and removed by the program.
 * With `waits` it behaves like a shell.
 */
export function virtualStage(
  { files, chip }: Pick<TestDocument, "files" | "chip">,
  { waits, patienceMs }: { waits: boolean; patienceMs?: number },
): TransportStage {
  const inner = createVirtualChip({ ...chip, files });
  let there = false;
  let connected = false;
  let waiting: { arrived: () => void; gaveUp: () => void } | null = null;
  const lose = async (): Promise<never> => {
    connected = false;
    throw new Error("Tag was lost");
  };
  const connect = async (): Promise<void> => {
    if (!there && !waits) await lose();
    if (!there)
      await new Promise<void>((resolve, reject) => {
        waiting = { arrived: resolve, gaveUp: () => reject(new Error("Given up")) };
      });
    waiting = null;
    await inner.reset();
    connected = true;
  };
  const transport: CheckedTransport = {
    maxCommandBytes: inner.maxCommandBytes,
    maxResponseBytes: inner.maxResponseBytes,
    extendedLength: inner.extendedLength,
    reset: async () => {
      if (!there) await lose();
      await inner.reset();
    },
    transceive: async (command) => {
      if (connected && !there) await lose();
      if (!connected) await connect();
      return await inner.transceive(command);
    },
    ...(waits
      ? {
          cancel: () => {
            connected = false;
            waiting?.gaveUp();
            waiting = null;
          },
        }
      : {}),
  };
  return {
    waits,
    ...(patienceMs === undefined ? {} : { patienceMs }),
    key: { mrz: chip.mrzKey },
    transport: async () => transport,
    layDown: async () => {
      there = true;
      waiting?.arrived();
    },
    takeAway: async () => {
      there = false;
    },
  };
}
