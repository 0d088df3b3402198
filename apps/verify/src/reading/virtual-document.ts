import { deserialiseTestDocuments } from "@assay/emrtd/virtual/test-document";
import { createVirtualChip } from "@assay/emrtd/virtual/virtual-chip";
import type { ListedTestDocument } from "../session/api.ts";
import type { ChipSource } from "./device-session.ts";
import { openForReading } from "./read-chip.ts";

/** A document of the test country as a chip in front of the reader. */
export function virtualSource(listed: ListedTestDocument): ChipSource {
  return async (onStep) => {
    const [document] = deserialiseTestDocuments(JSON.stringify([listed]));
    if (document === undefined) throw new Error("There is no such test document");
    const { mrzKey, ...chip } = document.chip;
    const transport = createVirtualChip({ ...chip, files: document.files, mrzKey });
    // One turn of the event loop for each command lets the page show the steps.
    const unhurried = {
      ...transport,
      transceive: async (command: Uint8Array) => {
        await new Promise((resolve) => setTimeout(resolve, 0));
        return await transport.transceive(command);
      },
    };
    return await openForReading(unhurried, { mrz: mrzKey }, onStep, () => transport.reset());
  };
}
