import { openChip } from "@assay/emrtd/reader/open-chip";
import { readDocument } from "@assay/emrtd/reader/read-document";
import type { TestDocument } from "@assay/emrtd/virtual/test-document";
import { createVirtualChip } from "@assay/emrtd/virtual/virtual-chip";
import type { ChipSource } from "./simulate.ts";

/** A document of the test country as a chip that a device can read, with the key that is printed on it. */
export function virtualPassport({ files, chip }: Pick<TestDocument, "files" | "chip">): ChipSource {
  return {
    open: () => openChip(createVirtualChip({ files, ...chip }), { mrz: chip.mrzKey }),
    read: (opened) => readDocument(opened),
  };
}
