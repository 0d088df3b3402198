import type { EventData } from "@assay/contract/events";
import type { Chosen } from "./kind.ts";
import { kindOfProof, type Proof } from "./kinds.ts";

/** What a success shares: the `data` of its event, without what is known of the session itself. */
export type SharedData = Omit<EventData<"verification.session.succeeded">, "return_code_sha256">;

export function sharedData(proof: Proof, chosen: Chosen): SharedData {
  const kind = kindOfProof(proof);
  return {
    claims: kind.claims(proof, chosen),
    selected_field_keys: [...chosen.fieldKeys],
    evidence: kind.evidence(proof, chosen.now),
  };
}
