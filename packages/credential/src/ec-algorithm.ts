/** The signatures that credentials and their certificates may have. */
export type EcAlgorithm = "ES256" | "ES384" | "ES512";

export const curveOf = { ES256: "P-256", ES384: "P-384", ES512: "P-521" } as const;
export const hashOf = { ES256: "SHA-256", ES384: "SHA-384", ES512: "SHA-512" } as const;
