import type { ChipSource } from "@assay/device/drive-device";
import { virtualPassport } from "@assay/device/virtual-passport";
import type { MrzKeyFields } from "@assay/emrtd/mrz/mrz-key";
import { deserialiseTestDocuments } from "@assay/emrtd/virtual/test-document";
import type { ListedTestDocument } from "../session/api.ts";

/** A document of the test country as a chip at the reader, opened with the printed or the scanned key. */
export function virtualSource(listed: ListedTestDocument, key: MrzKeyFields | null = null): ChipSource {
  return async (onStep) => {
    const [document] = deserialiseTestDocuments(JSON.stringify([listed]));
    if (document === undefined) throw new Error("There is no such test document");
    // One turn of the event loop for each command lets the page show the steps.
    const open = virtualPassport(
      document,
      (transport) => ({
        ...transport,
        transceive: async (command) => {
          await new Promise((resolve) => setTimeout(resolve, 0));
          return await transport.transceive(command);
        },
      }),
      key ?? document.chip.mrzKey,
    );
    return await open(onStep);
  };
}
