import { ageClaim, type claimKeys } from "@assay/contract/sessions";

const labels: Record<(typeof claimKeys)[number], string> = {
  document_type_code: "Type of document",
  issuing_country_code: "Issuing country",
  family_name: "Family name",
  given_names: "Given names",
  document_number: "Document number",
  nationality_code: "Nationality",
  date_of_birth: "Date of birth",
  sex_marker: "Sex marker",
  document_expiry_date: "Expiry date",
  mrz_optional_data: "Optional data of the document",
  service_document_id: "A code in place of the document",
};

/** What a person would call a field that can be shared. */
export function claimLabel(key: string): string {
  if (key.startsWith(ageClaim.prefix)) return `Is at least ${key.slice(ageClaim.prefix.length)} years old`;
  return key in labels ? labels[key as keyof typeof labels] : key.replaceAll("_", " ");
}
