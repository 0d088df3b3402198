import { urlProblem } from "../platform/lib/public-address.ts";

/** One of `TRUST_SOURCES`: an address with the fingerprints that may vouch for what it brings, or all that trusted certificates name. */
type NamedSource = { address: string; pins: readonly string[] };

/** The word that stands for the addresses in trusted certificates. */
export const distributionPoints = "distribution-points";

/** What is wrong with an entry of the setting, or null. */
export function sourceProblem(entry: string, exemptHosts: ReadonlySet<string>): string | null {
  if (entry === distributionPoints) return null;
  const [address = "", fragment] = splitEntry(entry);
  if (fragment !== undefined && !/^sha256=[0-9a-f]{64}$/i.test(fragment))
    return "has a fragment other than #sha256= with the fingerprint of a signer, 64 hexadecimal digits";
  const problem = urlProblem(address, exemptHosts);
  return problem === null
    ? null
    : `is neither ${distributionPoints} nor an address that may be asked: it ${problem}`;
}

export function namedSources(entries: readonly string[]): readonly NamedSource[] {
  return entries
    .filter((entry) => entry !== distributionPoints)
    .map((entry) => {
      const [address = "", fragment] = splitEntry(entry);
      const pin = fragment?.slice("sha256=".length).toLowerCase();
      return { address, pins: pin === undefined ? [] : [pin] };
    });
}

function splitEntry(entry: string): readonly string[] {
  const at = entry.indexOf("#");
  return at === -1 ? [entry] : [entry.slice(0, at), entry.slice(at + 1)];
}
