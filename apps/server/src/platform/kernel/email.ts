import { type EmailParts, readEmail } from "@assay/contract/email";
import { badField } from "./api-error.ts";

/**
 * The address in the forms for display and comparison. A pattern cannot check whether a domain can be written
 * in ASCII, so some addresses that match the schema are refused here.
 */
export function requireEmail(field: string, text: string): EmailParts {
  const email = readEmail(text);
  if (email === null) throw badField(field, "is not an e-mail address, or its domain cannot exist");
  return email;
}
