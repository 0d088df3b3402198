import { isIP } from "node:net";

/** The addresses that one customer of a provider usually has: a single IPv4 address, or a /64 of IPv6. */
export function addressBlock(address: string): string {
  const plain = (address.split("%")[0] ?? "").toLowerCase();
  const mapped = /^::ffff:(\d{1,3}(?:\.\d{1,3}){3})$/.exec(plain)?.[1];
  if (mapped !== undefined) return mapped;
  if (isIP(plain) !== 6) return plain;
  const [head = "", tail] = plain.split("::");
  const groups = (part: string) => (part === "" ? [] : part.split(":"));
  // An embedded IPv4 address counts as two groups.
  const width = (part: string[]) => part.reduce((sum, group) => sum + (group.includes(".") ? 2 : 1), 0);
  const front = groups(head);
  const back = tail === undefined ? [] : groups(tail);
  const zeros =
    tail === undefined ? [] : Array.from({ length: Math.max(0, 8 - width(front) - width(back)) }, () => "0");
  return [...front, ...zeros, ...back]
    .slice(0, 4)
    .map((group) => group.replace(/^0+(?=.)/, ""))
    .join(":");
}
