import { fromBase64 } from "../base64.ts";
import { EmrtdError } from "../emrtd-error.ts";

export type PemBlock = {
  readonly label: string;
  readonly bytes: Uint8Array;
};

const BEGIN = "-----BEGIN ";
const DASHES = "-----";

/** The blocks of a PEM file. Text between them is passed over; a block that does not end is an error. */
export function readPem(text: string): readonly PemBlock[] {
  const blocks: PemBlock[] = [];
  for (let start = text.indexOf(BEGIN); start >= 0; ) {
    const labelStart = start + BEGIN.length;
    const labelEnd = text.indexOf(DASHES, labelStart);
    const label = labelEnd < 0 ? "" : text.slice(labelStart, labelEnd);
    if (!/^[A-Z0-9 ]{1,40}$/.test(label))
      throw new EmrtdError("TRUST_IMPORT_INVALID", "A PEM block has no label");
    const bodyStart = labelEnd + DASHES.length;
    const end = text.indexOf(`-----END ${label}-----`, bodyStart);
    if (end < 0) throw new EmrtdError("TRUST_IMPORT_INVALID", `A PEM block ${label} does not end`);
    blocks.push({ label, bytes: fromBase64(text.slice(bodyStart, end)) });
    start = text.indexOf(BEGIN, end);
  }
  return blocks;
}
