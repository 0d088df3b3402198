import { readAgreementKey } from "../crypto/subject-public-key.ts";
import { isEmrtdError } from "../emrtd-error.ts";
import type { SecurityInfo } from "../lds/security-infos.ts";
import type { PaceResult } from "./pace.ts";
import { checkChipAuthenticationMapping } from "./pace-crypto.ts";

type ChipMappingVerdict = "matches" | "differs" | "no_key" | "not_used";

/**
 * Whether the chip knew its static key during PACE with the chip authentication mapping. `infos` come from EF.CardSecurity
 * or DG14. This informs whoever holds the reader; a client can forge it, so it is no proof for a server.
 */
export function checkChipMapping(
  pace: PaceResult,
  parameterId: number | null,
  infos: readonly SecurityInfo[],
): ChipMappingVerdict {
  const evidence = pace.chipAuthentication;
  if (evidence === null) return "not_used";
  const keys = infos
    .flatMap((info) => (info.kind === "chipAuthenticationPublicKey" ? [info] : []))
    .slice(0, 8);
  const named = keys.filter((key) => parameterId !== null && key.keyId === BigInt(parameterId));
  let usable = false;
  for (const key of named.length > 0 ? named : keys) {
    try {
      const { domain, publicKey } = readAgreementKey(key.subjectPublicKeyInfo);
      if (domain.name !== pace.domain.name) continue;
      usable = true;
      if (checkChipAuthenticationMapping(pace.domain, evidence, publicKey)) return "matches";
    } catch (error) {
      if (!isEmrtdError(error)) throw error;
    }
  }
  return usable ? "differs" : "no_key";
}
