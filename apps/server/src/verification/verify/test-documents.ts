import { testDocuments } from "@assay/emrtd/node/test-country/catalogue";
import { serialiseTestDocuments } from "@assay/emrtd/virtual/test-document";

let kept: { year: number; documents: unknown[] } | null = null;

/** The catalogue as the page reads it. It changes only with the year and takes a moment to make. */
export function serialisedTestDocuments(now: Date): unknown[] {
  const year = now.getUTCFullYear();
  if (kept?.year !== year) {
    kept = { year, documents: JSON.parse(serialiseTestDocuments(testDocuments(now))) as unknown[] };
  }
  return kept.documents;
}
