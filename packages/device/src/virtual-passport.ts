import type { ChipTransport } from "@assay/emrtd/apdu/transport";
import type { MrzKeyFields } from "@assay/emrtd/mrz/mrz-key";
import type { TestDocument } from "@assay/emrtd/virtual/test-document";
import { createVirtualChip } from "@assay/emrtd/virtual/virtual-chip";
import type { ChipSource } from "./drive-device.ts";
import { openDocument } from "./open-document.ts";

/** A document of the test country as a chip that a device can read, with the printed or scanned key. */
export function virtualPassport(
  { files, chip }: Pick<TestDocument, "files" | "chip">,
  through: (transport: ChipTransport) => ChipTransport = (transport) => transport,
  key: MrzKeyFields = chip.mrzKey,
): ChipSource {
  return (onStep) => {
    const transport = createVirtualChip({ files, ...chip });
    return openDocument(through(transport), { mrz: key }, onStep, () => void transport.reset());
  };
}
