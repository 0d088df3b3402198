import type { TrustRecord } from "@assay/emrtd/trust/trust-record";
import type { TrustAct } from "./trust.store.ts";
import type { WalletImport } from "./wallet-trust.store.ts";

/** The entry of an import in the operator's log. */
export function describeImport(record: TrustRecord): TrustAct {
  const { source, certificates, revocationLists, deviationLists = [] } = record;
  const signedBy = source.signedBy === null ? "" : `, signed by ${source.signedBy.signer}`;
  const deviations =
    deviationLists.length === 0
      ? ""
      : `, ${deviationLists.length} deviation list${deviationLists.length === 1 ? "" : "s"}`;
  return {
    act: "imported",
    subject: source.label,
    detail: `${certificates.length} certificates and ${revocationLists.length} revocation lists${deviations}${signedBy}`,
  };
}

export function describeWalletImport(list: WalletImport): TrustAct {
  const { label, purpose, scope, certificates, signedBy } = list;
  const where = scope === "sandbox" ? ` in the sandbox` : "";
  const by = signedBy === null ? "" : `, signed by ${signedBy.signer}`;
  return {
    act: "imported",
    subject: label,
    detail: `${certificates.length} certificates for ${purpose}${where}${by}`,
  };
}
