import { createHmac } from "node:crypto";
import { deserialize } from "node:v8";
import type { OrganizationId } from "@assay/contract/ids";
import type { ClaimKey } from "@assay/contract/sessions";
import { isAtLeast } from "@assay/emrtd/mrz/age";
import { isoDate, type MrzDate } from "@assay/emrtd/mrz/mrz-date";
import type { Mrz } from "@assay/emrtd/mrz/parse-mrz";
import { ageOf, isNamedClaim } from "../claim-keys.ts";
import type { Chosen, ClaimValue } from "../kind.ts";
import type { ChipContent, DocumentChipProof } from "./proof.ts";

/** Exactly the chosen fields, from the machine readable zone that was verified. */
export function claimsOf(proof: DocumentChipProof, chosen: Chosen): Record<string, ClaimValue> {
  const { fieldKeys, organizationId, documentIdKey, now } = chosen;
  const { mrz } = deserialize(proof.content) as ChipContent;
  const documentId = () => serviceDocumentId(documentIdKey, organizationId, mrz);
  return buildClaims(mrz, { fieldKeys, documentId, now });
}

/** Why a field has no certain value although the document has it. */
type ClaimRefusal = { key: string; reason: "century_of_birth_unknown" };

/**
 * The first chosen field that this document states ambiguously, or null. Check it before a step passes:
 * `buildClaims` throws for such a field.
 */
export function claimRefusal(
  content: Uint8Array,
  fieldKeys: readonly string[],
  now: Date,
): ClaimRefusal | null {
  const { mrz } = deserialize(content) as ChipContent;
  const key = fieldKeys.find((candidate) => hangsOnCentury(mrz.dateOfBirth, candidate, now));
  return key === undefined ? null : { key, reason: "century_of_birth_unknown" };
}

function hangsOnCentury(birth: MrzDate, key: string, now: Date): boolean {
  if (key === "date_of_birth") return birth.otherYears.length > 0;
  const years = ageOf(key);
  return years !== null && isAtLeast(birth, years, now) === null;
}

/**
 * The fields of the machine readable zone on the chip (DG1). A blank field is null. A partly known date has
 * only the known part (`1968-05`, `1968`).
 */
export function buildClaims(
  mrz: Mrz,
  chosen: { fieldKeys: readonly string[]; documentId: () => string; now: Date },
): Record<string, ClaimValue> {
  const claims: Record<string, ClaimValue> = {};
  if (chosen.fieldKeys.some((key) => hangsOnCentury(mrz.dateOfBirth, key, chosen.now)))
    throw new Error("a field was to be shared that the document leaves open");
  for (const key of chosen.fieldKeys) {
    const years = ageOf(key);
    if (years !== null) claims[key] = isAtLeast(mrz.dateOfBirth, years, chosen.now);
    else if (isNamedClaim(key)) claims[key] = claimOf(mrz, key, chosen);
    else throw new Error("a field that cannot be shared was chosen");
  }
  return claims;
}

/** A key of the contract that has no case here does not compile. */
function claimOf(mrz: Mrz, key: ClaimKey, chosen: { documentId: () => string }): ClaimValue {
  switch (key) {
    case "document_type_code":
      return mrz.documentCode;
    case "issuing_country_code":
      return blankAsNull(mrz.issuingState);
    case "family_name":
      return blankAsNull(mrz.name.primary);
    case "given_names":
      return blankAsNull(mrz.name.secondary);
    case "document_number":
      return blankAsNull(mrz.documentNumber);
    case "nationality_code":
      return blankAsNull(mrz.nationality);
    case "date_of_birth":
      return knownDate(mrz.dateOfBirth);
    case "sex_marker":
      return mrz.sex;
    case "document_expiry_date":
      return knownDate(mrz.dateOfExpiry);
    case "mrz_optional_data":
      return blankAsNull([mrz.optionalData, mrz.secondOptionalData].filter((part) => part !== "").join(" "));
    case "service_document_id":
      return chosen.documentId();
  }
}

function blankAsNull(text: string): string | null {
  return text === "" ? null : text;
}

function knownDate(date: MrzDate): string | null {
  const whole = isoDate(date);
  if (whole !== null) return whole;
  if (date.year === null) return null;
  const year = String(date.year).padStart(4, "0");
  return date.month === null ? year : `${year}-${String(date.month).padStart(2, "0")}`;
}

/**
 * The same document always has the same identifier for one organization, and another one for each other
 * organization. It reveals nothing without the key, which never leaves the service.
 */
export function serviceDocumentId(
  key: Buffer,
  organizationId: OrganizationId,
  {
    issuingState,
    documentCode,
    documentNumber,
  }: Pick<Mrz, "issuingState" | "documentCode" | "documentNumber">,
): string {
  const hmac = createHmac("sha256", key);
  // Each part is preceded by its length, so that two different lists of parts never make the same text.
  for (const part of ["service_document_id", organizationId, issuingState, documentCode, documentNumber])
    hmac.update(`${Buffer.byteLength(part)}:${part}`);
  return hmac.digest("base64url");
}
