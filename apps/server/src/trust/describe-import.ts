import type { TrustRecord } from "@assay/emrtd/trust/trust-record";
import type { TrustAct } from "./trust.store.ts";

/** An import as the operator's log tells it. */
export function describeImport({ source, certificates, revocationLists }: TrustRecord): TrustAct {
  const signedBy = source.signedBy === null ? "" : `, signed by ${source.signedBy.signer}`;
  return {
    act: "imported",
    subject: source.label,
    detail: `${certificates.length} certificates and ${revocationLists.length} revocation lists${signedBy}`,
  };
}
