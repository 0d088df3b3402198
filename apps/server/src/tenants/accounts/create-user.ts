import { SignUpBody } from "@assay/contract/accounts";
import type { EmailParts } from "@assay/contract/email";
import type { MailLanguage } from "@assay/contract/facts";
import type { Core } from "../../platform/core.ts";
import type { Tx } from "../../platform/db/db.ts";
import { ApiError } from "../../platform/kernel/api-error.ts";
import { requireEmail } from "../../platform/kernel/email.ts";
import { newUuid } from "../../platform/kernel/ids.ts";
import { createValidator } from "../../platform/kernel/validate.ts";
import { hashPassword, refuseWeakPassword } from "./password.ts";
import { insertUser, isTakenEmail, type UserRow } from "./user.store.ts";

const check = createValidator(SignUpBody, "body");

export type NewPerson = { name: string; email: string; password: string };
export type PreparedPerson = { name: string; email: EmailParts; passwordHash: string };

/** The slow part of creating an account, outside of its transaction. */
export async function preparePerson(person: NewPerson): Promise<PreparedPerson> {
  check(person);
  const email = requireEmail("email", person.email);
  refuseWeakPassword("password", person.password, [person.email, person.name]);
  return { name: person.name.trim(), email, passwordHash: await hashPassword(person.password) };
}

/**
 * Creates an account. `emailVerified`: the caller vouches for the address, as the operator does on the
 * command line. `together` runs in the transaction of the insert.
 */
export async function createUser(
  { db, clock }: Pick<Core, "db" | "clock">,
  person: PreparedPerson,
  options: {
    emailVerified?: boolean;
    language?: MailLanguage | null;
    together?: (tx: Tx, user: UserRow) => Promise<void>;
  } = {},
): Promise<UserRow> {
  const now = clock.now();
  try {
    return await db.transaction(async (tx) => {
      const user = await insertUser(tx, {
        id: newUuid(now),
        name: person.name,
        email: person.email,
        passwordHash: person.passwordHash,
        language: options.language ?? null,
        emailVerifiedAt: options.emailVerified ? now : null,
        now,
      });
      await options.together?.(tx, user);
      return user;
    });
  } catch (error) {
    if (isTakenEmail(error)) {
      throw new ApiError("EMAIL_TAKEN");
    }
    throw error;
  }
}
