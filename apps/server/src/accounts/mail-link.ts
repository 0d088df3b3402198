import type { UserId } from "@assay/contract/ids";
import type { Core } from "../core.ts";
import type { Tx } from "../db/db.ts";
import { dayMs, hourMs, later, minuteMs } from "../kernel/clock.ts";
import { hashToken, newToken, newUuid } from "../kernel/ids.ts";
import type { Mail } from "../mails/mail.ts";
import { queueMail } from "../mails/queue-mail.ts";
import { insertMailedToken, type TokenPurpose } from "./mailed-token.store.ts";
import type { UserRow } from "./user.store.ts";

type Letter = { page: string; lifetimeMs: number; subject: string; label: string; paragraphs: string[] };

const ignoreIt = "If you did not ask for this, you can ignore this mail.";

/** The links that accounts get, and the pages of the dashboard that they lead to. */
const letters: Record<TokenPurpose, Letter> = {
  magic_link: {
    page: "magic-link",
    lifetimeMs: 15 * minuteMs,
    subject: "Your link to sign in",
    label: "Sign in",
    paragraphs: ["This link signs you in. It works once, for 15 minutes.", ignoreIt],
  },
  reset_password: {
    page: "reset-password",
    lifetimeMs: hourMs,
    subject: "Set a new password",
    label: "Set a new password",
    paragraphs: [
      "This link lets you set a new password and signs you out everywhere. It works once, for an hour.",
      ignoreIt,
    ],
  },
  verify_email: {
    page: "verify-email",
    lifetimeMs: dayMs,
    subject: "Verify your e-mail",
    label: "Verify the e-mail",
    paragraphs: [
      "An account was made with this address. Open the link and sign in with the password that was chosen. It works for a day.",
      "If you did not make the account, you can ignore this mail: the address is then not verified.",
    ],
  },
  change_email: {
    page: "change-email",
    lifetimeMs: hourMs,
    subject: "Confirm your new e-mail",
    label: "Use this e-mail",
    paragraphs: [
      "This address is to become the e-mail of your account. Open the link while you are signed in. It works once, for an hour.",
      ignoreIt,
    ],
  },
};

/**
 * Mails a link with a new token to `email`. Only a hash of the token is kept. The mail does not repeat the account's
 * name: anybody may sign up with another's address and would have us send that person whatever text they like.
 */
export async function mailLink(
  core: Core,
  tx: Tx,
  userId: UserId,
  purpose: TokenPurpose,
  email: string,
): Promise<void> {
  const letter = letters[purpose];
  const now = core.clock.now();
  const token = newToken();
  await insertMailedToken(tx, {
    id: newUuid(now),
    userId,
    purpose,
    email,
    tokenHash: hashToken(token),
    now,
    expiresAt: later(now, letter.lifetimeMs),
  });
  await queueMail(core, tx, {
    to: email,
    subject: letter.subject,
    paragraphs: ["Hello,", ...letter.paragraphs],
    // Behind the # it reaches the page only: no server, proxy or other site gets to see it.
    action: { label: letter.label, url: `${core.publicUrl()}/dashboard/${letter.page}#token=${token}` },
  });
}

/** Tells the owner of an account about a change, so that one they did not make is noticed. */
export async function mailNotice(
  core: Core,
  tx: Tx,
  user: Pick<UserRow, "email">,
  notice: Pick<Mail, "subject"> & { happened: string },
): Promise<void> {
  await queueMail(core, tx, {
    to: user.email,
    subject: notice.subject,
    paragraphs: [
      "Hello,",
      notice.happened,
      "If this was not you, reset your password and sign out everywhere else at once.",
    ],
  });
}
