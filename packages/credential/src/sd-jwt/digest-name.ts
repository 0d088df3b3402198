/** Names of the IANA registry that `_sd_alg` may have. SHA-256 is meant where the credential has none. */
export const digestNames = { "sha-256": "SHA-256", "sha-384": "SHA-384", "sha-512": "SHA-512" } as const;
export type DigestName = keyof typeof digestNames;

export function isDigestName(name: unknown): name is DigestName {
  return typeof name === "string" && Object.hasOwn(digestNames, name);
}
