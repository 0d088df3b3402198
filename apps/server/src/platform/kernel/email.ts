import { type EmailParts, readEmail } from "@assay/contract/email";
import { badField } from "./api-error.ts";

/**
 * The address in the forms that are shown and compared. A pattern cannot tell whether a domain can be written in ASCII, so some
 * of what fits the schema is refused here, in the same words.
 */
export function requireEmail(field: string, text: string): EmailParts {
  const email = readEmail(text);
  if (email === null)
    throw badField(field, "is not an e-mail address, or its domain is not one that can exist");
  return email;
}
