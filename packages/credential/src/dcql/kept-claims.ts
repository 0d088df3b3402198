import type { AskedCredential, ClaimPath } from "../asked.ts";

/**
 * The claims that count: those of the first set that is disclosed whole, and what else is disclosed of the first set of all, which is
 * everything that the person agreed to. Null where no set is disclosed whole.
 */
export function keptClaims(
  { claimSets }: AskedCredential,
  isDisclosed: (path: ClaimPath) => boolean,
): readonly ClaimPath[] | null {
  const satisfied = claimSets.find((set) => set.every(isDisclosed));
  if (satisfied === undefined) return null;
  const agreed = (claimSets[0] ?? []).filter(isDisclosed);
  return [...new Map([...satisfied, ...agreed].map((path) => [JSON.stringify(path), path])).values()];
}
