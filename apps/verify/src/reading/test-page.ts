import { readDg2 } from "@assay/emrtd/lds/dg2";
import { drawDataPage } from "@assay/emrtd/virtual/data-page";
import { deserialiseTestDocuments } from "@assay/emrtd/virtual/test-document";
import type { ListedTestDocument } from "../session/api.ts";

const base64 = (bytes: Uint8Array) => btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));

/** The data page of a test document, as an address that an image may have. */
export function testPageAddress(listed: ListedTestDocument, at: Date): string | null {
  const [document] = deserialiseTestDocuments(JSON.stringify([listed]));
  if (document === undefined) return null;
  try {
    const drawn = drawDataPage(document.mrzLines, at, portraitOf(document.files.DG2));
    return `data:image/svg+xml;base64,${base64(new TextEncoder().encode(drawn))}`;
  } catch {
    // Some test documents are broken on purpose, in the zone too.
    return null;
  }
}

/** Browsers show JPEG; the portraits in JPEG 2000 stay a grey square. */
function portraitOf(dg2: Uint8Array | undefined): string | null {
  try {
    const image = dg2 === undefined ? null : readDg2(dg2).faces[0].image;
    return image?.kind === "jpeg" ? `data:image/jpeg;base64,${base64(image.bytes)}` : null;
  } catch {
    return null;
  }
}
