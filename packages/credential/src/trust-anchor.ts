/** Purposes of credentials. An issuer is trusted for one purpose only. */
export const purposes = ["pid", "mdl", "age"] as const;
export type Purpose = (typeof purposes)[number];

/** Which kind of list named an issuer. */
export type ListKind = "eu_list" | "vical" | "operator" | "sandbox";

/** An authority whose credentials of this purpose count. */
export type TrustAnchor = {
  purpose: Purpose;
  /** DER. */
  certificate: Uint8Array;
  list: ListKind;
  /** The list is past its next update, and still within the time that the operator tolerates. */
  stale: boolean;
};
