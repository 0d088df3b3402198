import { BlockList, isIP } from "node:net";
import { blankCharacters, unseenCharacters, urlLookAlikes } from "@assay/contract/shown-text";

/** Reserved IPv4 ranges: none of them is a host on the public internet. */
const specialIpv4: readonly [string, number][] = [
  ["0.0.0.0", 8],
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  ["127.0.0.0", 8],
  ["169.254.0.0", 16],
  ["172.16.0.0", 12],
  ["192.0.0.0", 24],
  ["192.0.2.0", 24],
  ["192.31.196.0", 24],
  ["192.52.193.0", 24],
  ["192.88.99.0", 24],
  ["192.168.0.0", 16],
  ["192.175.48.0", 24],
  ["198.18.0.0", 15],
  ["198.51.100.0", 24],
  ["203.0.113.0", 24],
  ["224.0.0.0", 4],
  ["240.0.0.0", 4],
];

/**
 * Reserved ranges inside 2000::/3: protocol assignments with Teredo, benchmarking and ORCHID, documentation,
 * 6to4, AS112. Addresses outside of 2000::/3 (loopback, mapped, NAT64, unique local, link local, multicast)
 * are not global unicast.
 */
const specialIpv6: readonly [string, number][] = [
  ["2001::", 23],
  ["2001:db8::", 32],
  ["2002::", 16],
  ["2620:4f:8000::", 48],
  ["3ffe::", 16],
  ["3fff::", 20],
];

const special = new BlockList();
for (const [network, prefix] of specialIpv4) special.addSubnet(network, prefix, "ipv4");
for (const [network, prefix] of specialIpv6) special.addSubnet(network, prefix, "ipv6");

const globalIpv6 = new BlockList();
globalIpv6.addSubnet("2000::", 3, "ipv6");

/**
 * Whether an address is global unicast, so that a connection cannot reach the operator's internal network.
 */
export function isPublicAddress(address: string): boolean {
  switch (isIP(address)) {
    case 4:
      return !special.check(address, "ipv4");
    case 6:
      // A zone exists only on a local link.
      if (address.includes("%")) return false;
      return globalIpv6.check(address, "ipv6") && !special.check(address, "ipv6");
    default:
      return false;
  }
}

/** Top-level names that never belong to a host on the public internet. */
const specialTopLevels = new Set([
  "alt",
  "arpa",
  "example",
  "internal",
  "invalid",
  "local",
  "localdomain",
  "localhost",
  "onion",
  "test",
]);

/** The host of a parsed URL in the form for comparing and resolving. */
export function bareHost(hostname: string): string {
  const host = hostname.startsWith("[") ? hostname.slice(1, -1) : hostname;
  return host.toLowerCase().replace(/\.$/, "");
}

const misleading = new RegExp(`[${blankCharacters}${unseenCharacters}${urlLookAlikes}]`, "u");

/**
 * Why the service must not send to a URL, or null. The text ends a sentence that begins with the field's
 * name. The resolved addresses are checked separately, at every connection. The URL parser has already
 * normalized decimal, octal and hexadecimal addresses.
 */
export function urlProblem(
  text: string,
  exemptHosts: ReadonlySet<string>,
  protocols: "https" | "https_or_http" = "https",
): string | null {
  const url = URL.parse(text);
  // Parsers disagree about white space, control characters and backslashes, and no valid URL needs them.
  if (url === null || /[^\x21-\x7e\u00a1-\uffff]|\\/.test(text) || misleading.test(text))
    return "is not a valid URL";
  if (url.protocol !== "https:" && !(url.protocol === "http:" && protocols === "https_or_http"))
    return "must start with https://";
  if (url.username !== "" || url.password !== "" || /^https?:\/*[^/?#]*@/i.test(text))
    return "must not hold credentials";
  const host = bareHost(url.hostname);
  if (exemptHosts.has(host)) return null;
  if (isIP(host) !== 0)
    return isPublicAddress(host) ? null : "must not lead to a private or reserved address";
  const labels = host.split(".");
  if (labels.length < 2 || labels.some((label) => label === "")) return "must have a full host name";
  if (specialTopLevels.has(labels.at(-1) ?? "")) return "must not have a reserved host name";
  return null;
}

/** Entries of a list of exempt hosts in the form of `bareHost`. */
export function exemptHostSet(entries: readonly string[]): ReadonlySet<string> {
  return new Set(entries.map(bareHost));
}
