import type { Tlv } from "../ber/read.ts";
import { tags } from "../ber/tag.ts";

/** One of a certificate, a revocation list or an entry of a list. */
export function readExtension(extension: Tlv): {
  readonly oid: string;
  readonly critical: boolean;
  readonly value: Uint8Array;
} {
  const parts = extension.expect(tags.sequence, "An extension").children();
  const marked = parts[1]?.tag === tags.boolean ? parts[1] : undefined;
  return {
    oid: extension.at(0, "The name of an extension").oid(),
    critical: marked?.boolean() ?? false,
    value: extension.at(marked === undefined ? 1 : 2, "The value of an extension").octetString(),
  };
}
