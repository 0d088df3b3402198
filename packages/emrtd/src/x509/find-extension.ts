import { readWhole } from "../ber/read.ts";
import { contextConstructed, tags } from "../ber/tag.ts";
import { EmrtdError } from "../emrtd-error.ts";
import type { Certificate } from "./certificate.ts";

/** The content of an extension that `Certificate` does not read, or null. */
export function findExtension({ tbs }: Pick<Certificate, "tbs">, oid: string): Uint8Array | null {
  const extensions = readWhole(tbs).find(contextConstructed(3));
  if (extensions === null) return null;
  let found: Uint8Array | null = null;
  for (const extension of extensions.at(0, "The extensions of a certificate", tags.sequence).children()) {
    if (extension.at(0, "The name of an extension").oid() !== oid) continue;
    if (found !== null) throw new EmrtdError("CERTIFICATE_INVALID", `The extension ${oid} occurs twice`);
    const isMarked = extension.at(1, "The value of an extension").tag === tags.boolean;
    found = extension.at(isMarked ? 2 : 1, "The value of an extension").octetString();
  }
  return found;
}
