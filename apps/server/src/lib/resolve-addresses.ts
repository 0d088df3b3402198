import { lookup, Resolver } from "node:dns/promises";

/** The addresses of a host name, or an empty list when it has none. Throws when nobody could tell. */
export type ResolveAddresses = (host: string) => Promise<string[]>;

const noSuchRecord = new Set(["ENODATA", "ENOTFOUND"]);

/**
 * Asks the system's resolvers directly. Names that others chose do not go through getaddrinfo: it has four threads for
 * the whole process, and a few names whose servers are silent would delay every other name and every file operation.
 */
export function createSystemResolver(timeoutMs: number): ResolveAddresses {
  const resolver = new Resolver({ timeout: timeoutMs, tries: 2 });
  return async (host) => {
    const answers = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)]);
    const addresses = answers.flatMap((answer) => (answer.status === "fulfilled" ? answer.value : []));
    if (addresses.length > 0) return addresses;
    for (const answer of answers)
      if (answer.status === "rejected" && !noSuchRecord.has((answer.reason as { code?: string }).code ?? ""))
        throw answer.reason;
    return [];
  };
}

/** Names that the operator exempts may stand in the system's hosts file, which only getaddrinfo reads. */
export async function lookUpLocally(host: string): Promise<string[]> {
  const found = await lookup(host, { all: true });
  return found.map(({ address }) => address);
}
