import { fromBase64 } from "../base64.ts";
import { EmrtdError } from "../emrtd-error.ts";

type LdifItem = {
  readonly bytes: Uint8Array;
  readonly line: number;
};

/** Attributes of directories that publish travel document certificates, in lower case and without options. */
const attributes: ReadonlySet<string> = new Set([
  "usercertificate",
  "cacertificate",
  "certificaterevocationlist",
  "pkdmasterlistcontent",
  "cscamasterlistdata",
]);

const maxItems = 200_000;

/**
 * The binary values of an LDIF file that hold certificates,
 * revocation lists or master lists. Skips all others.
 */
export function readLdif(text: string): readonly LdifItem[] {
  const items: LdifItem[] = [];
  let attribute: string[] = [];
  let firstLine = 1;
  const finish = () => {
    const item = readAttribute(attribute.join(""), firstLine);
    if (item !== null) items.push(item);
    if (items.length > maxItems)
      throw new EmrtdError("TRUST_IMPORT_INVALID", "The LDIF file has too many entries");
  };
  let lineNumber = 0;
  for (const line of text.split(/\r?\n/)) {
    lineNumber++;
    if (line.startsWith(" ")) {
      attribute.push(line.slice(1));
      continue;
    }
    finish();
    attribute = [line];
    firstLine = lineNumber;
  }
  finish();
  return items;
}

function readAttribute(text: string, line: number): LdifItem | null {
  const separator = text.indexOf("::");
  if (separator < 0 || separator > 200) return null;
  const name = text.slice(0, separator).split(";")[0]?.trim().toLowerCase() ?? "";
  return attributes.has(name) ? { bytes: fromBase64(text.slice(separator + 2)), line } : null;
}
