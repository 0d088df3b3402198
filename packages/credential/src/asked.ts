import type { Purpose } from "./trust-anchor.ts";

export type CredentialFormat = "mso_mdoc" | "dc+sd-jwt";

/**
 * A credential that a request asks for. Claims are named as the format names them: `[namespace, element]` in an mdoc, the path of a claim in an
 * SD-JWT VC. One presentation satisfies it when it discloses every claim of at least one of `claimSets`.
 */
export type AskedCredential = {
  /** The id in the query and in the answer: letters, digits, `_` and `-`. */
  id: string;
  purpose: Purpose;
  format: CredentialFormat;
  /** In the order of preference. Each set holds what is required; a later set holds less. */
  claimSets: readonly (readonly ClaimPath[])[];
};

/** A name is a string, the position in an array a number, and null stands for every element of an array. */
export type ClaimPath = readonly (string | number | null)[];
