import { lookup, Resolver } from "node:dns/promises";

/** The addresses of a host name, or an empty list when it has none. Throws when no resolver answered. */
export type ResolveAddresses = (host: string) => Promise<string[]>;

const noAnswer = new Set(["ENODATA", "ENOTFOUND"]);

/**
 * Asks the given resolvers, or the system's. Never through getaddrinfo: its few threads would let one dead name server
 * delay every other name.
 */
export function createResolveAddresses(resolvers: readonly string[], timeoutMs: number): ResolveAddresses {
  const resolver = new Resolver({ timeout: timeoutMs, tries: 2 });
  if (resolvers.length > 0) resolver.setServers(resolvers);
  return async (host) => {
    const answers = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)]);
    const addresses = answers.flatMap((answer) => (answer.status === "fulfilled" ? answer.value : []));
    if (addresses.length > 0) return addresses;
    const failed = answers.find(
      (answer) =>
        answer.status === "rejected" && !noAnswer.has((answer.reason as { code?: string }).code ?? ""),
    );
    if (failed?.status === "rejected") throw failed.reason;
    return [];
  };
}

/** Names that the operator exempts may stand in the system's hosts file, which resolvers do not read. */
export async function lookUpLocally(host: string): Promise<string[]> {
  const found = await lookup(host, { all: true });
  return found.map(({ address }) => address);
}
