import { createHmac } from "node:crypto";
import { deserialize } from "node:v8";
import type { OrganizationId } from "@assay/contract/ids";
import type { ClaimKey } from "@assay/contract/sessions";
import type { WalletMethod } from "@assay/contract/wallet-facts";
import type { Attributes } from "@assay/credential/verdict";
import { isAtLeast } from "@assay/emrtd/mrz/age";
import { icaoCodeOf } from "@assay/emrtd/verify/country";
import { ageOf, isNamedClaim } from "../claim-keys.ts";
import type { Chosen, ClaimValue } from "../kind.ts";
import type { WalletContent, WalletProof } from "./proof.ts";

/** Exactly the chosen fields, from the credential that was verified. */
export function claimsOf(proof: WalletProof, chosen: Chosen): Record<string, ClaimValue> {
  const content = deserialize(proof.content) as WalletContent;
  const claims: Record<string, ClaimValue> = {};
  for (const key of chosen.fieldKeys) claims[key] = claimOf(proof.method, content, key, chosen);
  return claims;
}

/** The first required field that the credential leaves without a value; null when it gives all. */
export function missingClaim(
  method: WalletMethod,
  content: WalletContent,
  requiredKeys: readonly string[],
  now: Date,
): string | null {
  const mayBeNull = ["sex_marker", "service_document_id"];
  return (
    requiredKeys.find((key) => !mayBeNull.includes(key) && fieldValue(method, content, key, now) === null) ??
    null
  );
}

function claimOf(method: WalletMethod, content: WalletContent, key: string, chosen: Chosen): ClaimValue {
  if (key !== "service_document_id") return fieldValue(method, content, key, chosen.now);
  const { documentNumber } = content.attributes;
  // A number that the person did not agree to share makes no identifier either.
  if (documentNumber === undefined || !chosen.fieldKeys.includes("document_number")) return null;
  return walletDocumentId(chosen.documentIdKey, chosen.organizationId, {
    type: documentTypes[method],
    issuedIn: content.issuedIn,
    documentNumber,
  });
}

const documentTypes = { wallet_pid: "PID", wallet_mdl: "DL", wallet_age: "AV" } as const;

function fieldValue(method: WalletMethod, { attributes }: WalletContent, key: string, now: Date): ClaimValue {
  const years = ageOf(key);
  if (years !== null) return isOver(attributes, years, now);
  if (!isNamedClaim(key)) throw new Error("a field that cannot be shared was chosen");
  return namedValue(method, attributes, key);
}

/** A key of the contract that has no case here does not compile. */
function namedValue(method: WalletMethod, attributes: Attributes, key: ClaimKey): ClaimValue {
  switch (key) {
    case "document_type_code":
      return documentTypes[method];
    case "issuing_country_code":
      return countryCode(attributes.issuingCountry);
    case "family_name":
      return attributes.familyName ?? null;
    case "given_names":
      return attributes.givenName ?? null;
    case "document_number":
      return attributes.documentNumber ?? null;
    case "nationality_code":
      return nationalityCode(attributes.nationalities?.[0]);
    case "date_of_birth":
      return attributes.birthDate ?? null;
    case "sex_marker":
      return sexMarker(attributes.sex);
    case "document_expiry_date":
      return attributes.expiryDate ?? null;
    // No credential has one.
    case "mrz_optional_data":
    // Made from several values, by `claimOf`.
    case "service_document_id":
      return null;
  }
}

/** The PID rulebook has codes for people without a known state, and so has ICAO Doc 9303. */
const withoutState: Readonly<Record<string, string>> = { QS: "XXA", QU: "XXX" };

function nationalityCode(code: string | undefined): string | null {
  return withoutState[code ?? ""] ?? countryCode(code);
}

function countryCode(alpha2: string | undefined): string | null {
  return alpha2 === undefined ? null : icaoCodeOf(alpha2);
}

/** ISO/IEC 5218: 1 and 2. The PID rulebook adds 3 to 6, which a document shows as X. */
function sexMarker(sex: number | undefined): string | null {
  if (sex === 1) return "M";
  if (sex === 2) return "F";
  return sex !== undefined && sex >= 3 && sex <= 6 ? "X" : null;
}

/** Computed from the birth date if it is known, because an issuer's age attribute may be outdated. */
function isOver(attributes: Attributes, years: number, now: Date): boolean | null {
  const { birthDate, ageOver } = attributes;
  if (birthDate === undefined) return ageOver?.[years] ?? null;
  const [year = null, month = null, day = null] = birthDate.split("-").map(Number);
  return isAtLeast({ raw: "", year, month, day, otherYears: [] }, years, now);
}

/** The type keeps a passport and a credential with the same number apart. */
export function walletDocumentId(
  key: Buffer,
  organizationId: OrganizationId,
  document: { type: string; issuedIn: string; documentNumber: string },
): string {
  const { type, issuedIn, documentNumber } = document;
  const hmac = createHmac("sha256", key);
  // Each part is preceded by its length, so that two different lists of parts never make the same text.
  for (const part of ["service_document_id", organizationId, "wallet", type, issuedIn, documentNumber])
    hmac.update(`${Buffer.byteLength(part)}:${part}`);
  return hmac.digest("base64url");
}
