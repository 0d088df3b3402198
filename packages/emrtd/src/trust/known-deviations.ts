import { isEmrtdError } from "../emrtd-error.ts";
import { type DeviationList, type DeviationListOptions, readDeviationList } from "./deviation-list.ts";
import type { TrustRecord, TrustSource } from "./trust-record.ts";

export type KnownDeviationList = {
  readonly list: DeviationList;
  readonly der: Uint8Array;
  readonly source: TrustSource;
};

/** An ignored list, and the reason. */
export type RefusedDeviationList = { readonly reason: string; readonly source: TrustSource };

/**
 * The deviation lists of all records, checked against the current trust. As with revocation lists, signers
 * are judged on use, not on import: an authority may be added later, and a signer revoked later.
 */
export function readDeviationLists(
  records: readonly TrustRecord[],
  options: DeviationListOptions,
): { readonly lists: readonly KnownDeviationList[]; readonly refused: readonly RefusedDeviationList[] } {
  const lists: KnownDeviationList[] = [];
  const refused: RefusedDeviationList[] = [];
  for (const { source, deviationLists = [] } of records) {
    for (const der of deviationLists) {
      try {
        lists.push({ list: readDeviationList(der, options), der, source });
      } catch (error) {
        if (!isEmrtdError(error)) throw error;
        refused.push({ reason: error.message, source });
      }
    }
  }
  return { lists, refused };
}
