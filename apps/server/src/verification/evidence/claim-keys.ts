import { ageClaim, type ClaimKey, claimKeys } from "@assay/contract/sessions";

const known: ReadonlySet<string> = new Set(claimKeys);
const ageKey = /^age_over_([1-9][0-9]{1,2})$/;

/** The N of `age_over_N`, or null for any other key. */
export function ageOf(key: string): number | null {
  const years = Number(ageKey.exec(key)?.[1]);
  return years >= ageClaim.min && years <= ageClaim.max ? years : null;
}

/** One of the contract's list, which `age_over_N` is not. */
export function isNamedClaim(key: string): key is ClaimKey {
  return known.has(key);
}

export function isClaimKey(key: string): boolean {
  return isNamedClaim(key) || ageOf(key) !== null;
}
