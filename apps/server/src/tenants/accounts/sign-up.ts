import type { FoldedEmail } from "@assay/contract/email";
import type { MailLanguage } from "@assay/contract/facts";
import type { Core } from "../../platform/core.ts";
import type { Db } from "../../platform/db/db.ts";
import { ApiError } from "../../platform/kernel/api-error.ts";
import { requireEmail } from "../../platform/kernel/email.ts";
import type { RequestInfo } from "../../platform/kernel/request-info.ts";
import { queueMail } from "../../platform/mails/queue-mail.ts";
import { createUser, type NewPerson, type PreparedPerson, preparePerson } from "./create-user.ts";
import { countMail, rememberOrigin } from "./limit-guesses.ts";
import { mailLink } from "./mail-link.ts";
import { verificationIsRequired } from "./require-verified-email.ts";
import type { OpenedSession } from "./sign-in.ts";
import { findUserByEmail } from "./user.store.ts";
import { openUserSession } from "./user-session.ts";

/** Whether a member with the right to invite has invited the address to an organization. */
export type IsInvited = (db: Db, email: FoldedEmail, now: Date) => Promise<boolean>;

type PreparedSignUp = {
  person: PreparedPerson;
  mayMail: boolean;
  /** False for an address without a required invitation: it gets the same answer, but no account. */
  isInvited: boolean;
  language: MailLanguage | null;
};

/** The part before the transaction, which is the same with and without an existing account. */
export async function prepareSignUp(
  core: Core,
  isInvited: IsInvited,
  given: NewPerson,
  request: RequestInfo,
): Promise<PreparedSignUp> {
  const { folded } = requireEmail("email", given.email);
  const invited = await mayJoin(core, isInvited, folded);
  const mayMail = verificationIsRequired(core) && (await countMail(core, folded, request));
  return { person: await preparePerson(given), mayMail, isInvited: invited, language: request.language };
}

async function mayJoin(
  core: Pick<Core, "config" | "db" | "clock">,
  isInvited: IsInvited,
  email: FoldedEmail,
): Promise<boolean> {
  const { config, db, clock } = core;
  if (config.signUp === "closed") {
    throw new ApiError("SIGN_UP_CLOSED");
  }
  if (config.signUp === "open" || (await isInvited(db, email, clock.now()))) return true;
  // Without mail the account is signed in at once, so the answers cannot be the same.
  if (!verificationIsRequired(core)) {
    throw new ApiError("INVITATION_REQUIRED");
  }
  return false;
}

/**
 * Without mail: creates the account and signs in. Only here may the answer reveal that the address is taken.
 */
export async function signUpAtOnce(
  core: Pick<Core, "db" | "clock" | "ring">,
  { person, language }: PreparedSignUp,
  request: RequestInfo,
): Promise<OpenedSession> {
  let token = "";
  const user = await createUser(core, person, {
    language,
    together: async (tx, { id }) => {
      token = await openUserSession(tx, id, request, core.clock.now());
    },
  });
  await rememberOrigin(core, user, request.address);
  return { user, token };
}

/**
 * With mail, only the mailbox learns whether it had an account or was invited (no account enumeration). So
 * this does not sign in either: a token only for new accounts would reveal it. The new account signs in with
 * the mailed link.
 */
export async function signUpByMail(core: Core, prepared: PreparedSignUp): Promise<void> {
  const { person, mayMail, isInvited, language } = prepared;
  if (!isInvited) {
    if (mayMail) await mailHolder(core, person.email.folded);
    return;
  }
  try {
    await createUser(core, person, {
      language,
      together: async (tx, user) => {
        if (mayMail) await mailLink(core, tx, user.id, "verify_email", user.email);
      },
    });
  } catch (error) {
    if (!(error instanceof ApiError && error.code === "EMAIL_TAKEN")) throw error;
    if (mayMail) await mailHolder(core, person.email.folded);
  }
}

async function mailHolder(core: Core, email: FoldedEmail): Promise<void> {
  await core.db.transaction(async (tx) => {
    const holder = await findUserByEmail(tx, email);
    if (holder === null) return;
    const dashboard = `${core.publicUrl()}/dashboard`;
    await queueMail(
      core,
      tx,
      { to: holder.email },
      {
        kind: "account_exists",
        fill: { reset: `${dashboard}/forgot-password` },
        url: `${dashboard}/sign-in`,
      },
    );
  });
}
