import type { claimKeys } from "@assay/contract/sessions";

/** What may be asked for, besides `age_over_N`. */
export type ClaimKey = (typeof claimKeys)[number];
