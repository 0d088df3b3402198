import { domainToASCII } from "node:url";
import { shownDomain } from "@assay/contract/shown-domain";
import { parse } from "tldts";

type Apex = {
  /** As in the DNS: lower case, IDN as `xn--…`. */
  ascii: string;
  /** For display: the Unicode form, unless it could be mistaken for another name. */
  unicode: string;
};

const labelPattern = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/;

/**
 * The registrable domain of a name, by the public suffix list with its private section: `example.co.uk` for
 * `shop.example.co.uk`, and `someone.github.io` for itself. Null if there is none: not a domain name, an IP
 * address, or a public suffix itself.
 */
export function findApex(name: string): Apex | null {
  const trimmed = name.trim();
  // The conversion below would cut off a path, decode percent signs and drop tabs, none of which a domain
  // contains.
  if (/[\s/\\:@?#%[\]*\p{Cc}]/u.test(trimmed)) return null;
  const ascii = domainToASCII(trimmed).replace(/\.$/, "");
  if (ascii.length > 253 || !ascii.split(".").every((label) => labelPattern.test(label))) return null;
  const { domain, isIp } = parse(ascii, { allowPrivateDomains: true, extractHostname: false });
  if (isIp === true || domain === null || /^[0-9]+$/.test(domain.split(".").at(-1) ?? "")) return null;
  return { ascii: domain, unicode: shownDomain(domain) };
}
