import { ageClaim, type claimKeys } from "@assay/contract/sessions";

const labels: Record<(typeof claimKeys)[number], string> = {
  document_type_code: "Document type",
  issuing_country_code: "Issuing country",
  family_name: "Family name",
  given_names: "Given names",
  document_number: "Document number",
  nationality_code: "Nationality",
  date_of_birth: "Date of birth",
  sex_marker: "Sex marker",
  document_expiry_date: "Expiry date",
  mrz_optional_data: "MRZ optional data",
  service_document_id: "Anonymous document ID",
};

/** What a person would call a field that can be shared. */
export function claimLabel(key: string): string {
  if (key.startsWith(ageClaim.prefix)) return `Age over ${key.slice(ageClaim.prefix.length)}`;
  return key in labels ? labels[key as keyof typeof labels] : key.replaceAll("_", " ");
}
