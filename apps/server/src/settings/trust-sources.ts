import { type Purpose, purposes } from "@assay/credential/trust-anchor";
import { urlProblem } from "../platform/lib/public-address.ts";

/** An address of `TRUST_SOURCES`, with the fingerprints of the signers that it accepts. */
type NamedSource = { address: string; pins: readonly string[] };

/** Stands for the addresses of revocation lists in trusted certificates. */
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
    : `is neither ${distributionPoints} nor an address that the service may fetch: it ${problem}`;
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

/** One of `WALLET_TRUST_SOURCES`. `id` contains the purpose, because an address may serve several. */
export type WalletSource = { id: string; purpose: Purpose; address: string; pins: readonly string[] };

/**
 * What is wrong with an entry of WALLET_TRUST_SOURCES, or null. No imported root vouches for its list, so the
 * entry needs a fingerprint.
 */
export function walletSourceProblem(entry: string, exemptHosts: ReadonlySet<string>): string | null {
  const source = readWalletSource(entry);
  if (source === null) return `does not begin with a purpose (${purposes.join(", ")}) and =`;
  const problem = urlProblem(source.address, exemptHosts);
  if (problem !== null) return `names no address that the service may fetch: it ${problem}`;
  return source.pins.length === 1
    ? null
    : "lacks #sha256= with the fingerprint of the list's signer, 64 hexadecimal digits";
}

/** Entries with the same purpose and address are one source with several fingerprints. */
export function walletSources(entries: readonly string[]): readonly WalletSource[] {
  const sources = new Map<string, WalletSource>();
  for (const entry of entries) {
    const source = readWalletSource(entry);
    if (source === null) continue;
    const pins = [...(sources.get(source.id)?.pins ?? []), ...source.pins];
    sources.set(source.id, { ...source, pins });
  }
  return [...sources.values()];
}

function readWalletSource(entry: string): WalletSource | null {
  const [name = "", rest = ""] = entry.split(/=(.*)/s);
  const purpose = purposes.find((known) => known === name.trim());
  if (purpose === undefined) return null;
  const [address = "", fragment = ""] = splitEntry(rest.trim());
  const pin = /^sha256=([0-9a-f]{64})$/i.exec(fragment)?.[1]?.toLowerCase();
  return { id: `${purpose}=${address}`, purpose, address, pins: pin === undefined ? [] : [pin] };
}

function splitEntry(entry: string): readonly string[] {
  const at = entry.indexOf("#");
  return at === -1 ? [entry] : [entry.slice(0, at), entry.slice(at + 1)];
}
