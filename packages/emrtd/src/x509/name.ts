import type { Tlv } from "../ber/read.ts";
import { tags } from "../ber/tag.ts";
import { toHex } from "../bytes.ts";
import { isEmrtdError } from "../emrtd-error.ts";

const countryOid = "2.5.4.6";

const shortNames: ReadonlyMap<string, string> = new Map([
  [countryOid, "C"],
  ["2.5.4.3", "CN"],
  ["2.5.4.5", "serialNumber"],
  ["2.5.4.7", "L"],
  ["2.5.4.8", "ST"],
  ["2.5.4.10", "O"],
  ["2.5.4.11", "OU"],
]);

export type DistinguishedName = {
  /**
   * Equal for names that RFC 5280 treats as equal:
   * string type, case and runs of spaces do not count; order does.
   */
  readonly key: string;
  /** The first country, as written: states use both cases and, rarely, three letters. */
  readonly country: string | null;
  /** For people, most significant part first. */
  readonly display: string;
};

/** Names come from foreign certificates and appear in reports, so their length is limited. */
const maxDisplayCharacters = 300;

export function readName(name: Tlv): DistinguishedName {
  name.expect(tags.sequence, "A name");
  const keys: string[] = [];
  const displays: string[] = [];
  let country: string | null = null;
  for (const relative of name.children()) {
    relative.expect(tags.set, "A part of a name");
    const partKeys: string[] = [];
    for (const attribute of relative.children()) {
      const type = attribute.at(0, "The type of a name's part").oid();
      const text = valueText(attribute.at(1, "The value of a name's part"));
      partKeys.push(`${type}=${JSON.stringify(comparable(text))}`);
      displays.push(`${shortNames.get(type) ?? type}=${printable(text)}`);
      if (type === countryOid) country ??= text.trim();
    }
    keys.push(partKeys.length === 1 ? (partKeys[0] ?? "") : partKeys.sort().join("+"));
  }
  return { key: keys.join(","), country, display: displays.join(", ").slice(0, maxDisplayCharacters) };
}

/** Whatever is not text is compared, and shown, as its bytes. */
function valueText(value: Tlv): string {
  try {
    return value.text();
  } catch (error) {
    if (!isEmrtdError(error)) throw error;
    return `#${toHex(value.bytes)}`;
  }
}

const plainText = /^[ -~]*$/;

function comparable(text: string): string {
  const folded = plainText.test(text) ? text : text.normalize("NFKC");
  return folded.trim().replace(/\s+/g, " ").toLowerCase();
}

/** Names end up in terminals and pages of operators, so control characters stay out. */
function printable(text: string): string {
  return plainText.test(text) ? text : text.replace(/[\p{Cc}\p{Cf}]/gu, "\u{fffd}");
}
