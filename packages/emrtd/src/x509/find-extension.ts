import { readWhole } from "../ber/read.ts";
import { contextConstructed, tags } from "../ber/tag.ts";
import { EmrtdError } from "../emrtd-error.ts";
import type { Certificate } from "./certificate.ts";
import { readExtension } from "./extension.ts";

/** The content of an extension that `Certificate` does not read, or null. */
export function findExtension({ tbs }: Pick<Certificate, "tbs">, oid: string): Uint8Array | null {
  const extensions = readWhole(tbs).find(contextConstructed(3));
  if (extensions === null) return null;
  let found: Uint8Array | null = null;
  for (const extension of extensions.at(0, "The extensions of a certificate", tags.sequence).children()) {
    const { oid: name, value } = readExtension(extension);
    if (name !== oid) continue;
    if (found !== null) throw new EmrtdError("CERTIFICATE_INVALID", `The extension ${oid} occurs twice`);
    found = value;
  }
  return found;
}
