import { fromBase64 } from "../base64.ts";
import { EmrtdError } from "../emrtd-error.ts";

type PemBlock = {
  readonly label: string;
  readonly bytes: Uint8Array;
};

const beginMark = "-----BEGIN ";
const dashes = "-----";

/** The blocks of a PEM file. Text between them is passed over; a block that does not end is an error. */
export function readPem(text: string): readonly PemBlock[] {
  const blocks: PemBlock[] = [];
  for (let start = text.indexOf(beginMark); start >= 0; ) {
    const labelStart = start + beginMark.length;
    const labelEnd = text.indexOf(dashes, labelStart);
    const label = labelEnd < 0 ? "" : text.slice(labelStart, labelEnd);
    if (!/^[A-Z0-9 ]{1,40}$/.test(label))
      throw new EmrtdError("TRUST_IMPORT_INVALID", "A PEM block has no label");
    const bodyStart = labelEnd + dashes.length;
    const end = text.indexOf(`-----END ${label}-----`, bodyStart);
    if (end < 0) throw new EmrtdError("TRUST_IMPORT_INVALID", `A PEM block ${label} does not end`);
    blocks.push({ label, bytes: fromBase64(text.slice(bodyStart, end)) });
    start = text.indexOf(beginMark, end);
  }
  return blocks;
}
