import { domainToASCII } from "node:url";
import { shownDomain } from "@assay/contract/shown-domain";
import { parse } from "tldts";

type Apex = {
  /** As the DNS knows it: lower case, IDN as `xn--…`. */
  ascii: string;
  /** As people are shown it: as they write it, unless that could be taken for another name. */
  unicode: string;
};

const labelPattern = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/;

/**
 * The registrable domain that a name is on, by the public suffix list with its private part: of `shop.example.co.uk` it
 * is `example.co.uk`, and `someone.github.io` is one of its own. Null when there is none: not a domain name, an
 * address, or a public suffix itself.
 */
export function findApex(name: string): Apex | null {
  const trimmed = name.trim();
  // The conversion below would cut a path off, decode percent signs and drop tabs; a domain has nothing of the kind.
  if (/[\s/\\:@?#%[\]*\p{Cc}]/u.test(trimmed)) return null;
  const ascii = domainToASCII(trimmed).replace(/\.$/, "");
  if (ascii.length > 253 || !ascii.split(".").every((label) => labelPattern.test(label))) return null;
  const { domain, isIp } = parse(ascii, { allowPrivateDomains: true, extractHostname: false });
  if (isIp === true || domain === null || /^[0-9]+$/.test(domain.split(".").at(-1) ?? "")) return null;
  return { ascii: domain, unicode: shownDomain(domain) };
}
