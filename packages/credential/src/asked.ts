import type { Purpose } from "./trust-anchor.ts";

export type CredentialFormat = "mso_mdoc" | "dc+sd-jwt";

/**
 * A requested credential. Claims are named as in the format: `[namespace, element]` in an mdoc, the path of a
 * claim in an SD-JWT VC. A presentation must disclose every claim of at least one of `claimSets`.
 */
export type AskedCredential = {
  /** The id in the query and in the answer: letters, digits, `_` and `-`. */
  id: string;
  purpose: Purpose;
  format: CredentialFormat;
  /** In order of preference. Each set holds the required claims; later sets hold fewer others. */
  claimSets: readonly (readonly ClaimPath[])[];
};

/** A string is a name, a number the position in an array, and null every element of an array. */
export type ClaimPath = readonly (string | number | null)[];
