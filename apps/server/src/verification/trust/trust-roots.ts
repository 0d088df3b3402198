import type { TrustStore } from "@assay/emrtd/trust/trust-store";
import type { Certificate } from "@assay/emrtd/x509/certificate";

/**
 * The authorities that may sign further master lists: those that the operator imported, and those that signed
 * an earlier list. So a new edition needs no root. An authority that a list only names may not, or any state
 * could name the authorities of all others.
 */
export function rootsOf(store: TrustStore): Certificate[] {
  const anchors = new Set(
    store.authorities.flatMap(({ sources }) => sources.map(({ signedBy }) => signedBy?.anchorSha256)),
  );
  return store.authorities
    .filter(({ basis, sources, fingerprint }) => {
      const byOperator = basis === "named" && sources.some(({ signedBy }) => signedBy === null);
      return byOperator || anchors.has(fingerprint);
    })
    .map(({ certificate }) => certificate);
}
