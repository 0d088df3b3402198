import { type Api, expectData } from "./api.ts";
import type { DnsServer } from "./dns-server.ts";

/** Proves a domain for the caller's active organization through a name server of the test. */
export async function verifyDomain(owner: { api: Api }, dns: DnsServer, name: string): Promise<string> {
  const challenge = expectData(
    await owner.api.post("/v1/auth/orgs/domains/challenges/dns", { apex_domain: name }),
    201,
  );
  dns.set(challenge.record_name, "TXT", challenge.record_value);
  const verified = expectData(
    await owner.api.post("/v1/auth/orgs/domains/challenges/dns/verify", {
      challenge_id: challenge.challenge_id,
      acknowledge_takeover: true,
    }),
  );
  return verified.domain_id;
}
