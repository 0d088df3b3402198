import type { Environment } from "@assay/contract/facts";
import type { GoLiveReadiness, RpTermsStatus, BusinessDetails as WireDetails } from "@assay/contract/go-live";
import type { Static } from "typebox";
import type { BusinessDetails } from "./business-details.ts";
import type { AcceptanceRow } from "./go-live.store.ts";
import { type GoLiveFacts, readinessOf, whatIsMissing } from "./go-live-readiness.ts";
import { isCurrent, type RpTerms } from "./rp-terms.ts";

export function viewBusinessDetails(details: BusinessDetails): Static<typeof WireDetails> {
  return {
    businessType: details.type,
    businessName: details.name,
    businessJurisdiction: details.jurisdiction,
    businessRegistrationNumber: details.registrationNumber,
  };
}

export function viewRpTermsStatus(
  acceptance: AcceptanceRow | null,
  terms: RpTerms,
  operatorReady: boolean,
): Static<typeof RpTermsStatus> {
  return {
    acceptance:
      acceptance === null
        ? null
        : {
            accepted_at: acceptance.acceptedAt.toISOString(),
            accepted_by: acceptance.acceptedBy,
            jurisdiction: acceptance.jurisdiction,
            terms_hash: acceptance.termsHash,
            terms_version: acceptance.termsVersion,
          },
    current: { jurisdiction: terms.jurisdiction, terms_hash: terms.hash, terms_version: terms.version },
    current_accepted: isCurrent(acceptance, terms),
    operator_ready: operatorReady,
  };
}

export function viewReadiness(
  { environment }: { environment: Environment },
  facts: GoLiveFacts,
  publicUrl: string,
): Static<typeof GoLiveReadiness> {
  return {
    environment,
    ready: whatIsMissing(facts).length === 0,
    points: readinessOf(facts).map(({ point, done, required, instead, explanation, docs }) => ({
      point,
      done,
      required,
      instead,
      explanation,
      docs: `${publicUrl}/docs/${docs}`,
    })),
  };
}
