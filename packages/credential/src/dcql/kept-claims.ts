import type { AskedCredential, ClaimPath } from "../asked.ts";

/**
 * The accepted claims: those of the first fully disclosed set, and any others of the first set, which holds
 * everything that the person agreed to. Null if no set is fully disclosed.
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
