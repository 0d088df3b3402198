import { foldEmail } from "@assay/contract/email";
import { type MailLanguage, mailLanguages } from "@assay/contract/facts";
import type { OrganizationId } from "@assay/contract/ids";
import type { Core } from "../core.ts";
import type { Queryable, Tx } from "../db/db.ts";
import { newUuid } from "../kernel/ids.ts";
import { composeMail, type Reader } from "./compose-mail.ts";
import type { Letter } from "./letter.ts";
import { findAccountOf, insertMail } from "./mail.store.ts";

/** NOTIFY channel: mails are waiting. The payload is empty. */
export const mailChannel = "assay_mails";

export type Address = {
  to: string;
  /** The organization of the mail; the mail is deleted with it. */
  organization?: { id: OrganizationId; name: string };
  /**
   * The address of the account that caused the mail. Its language is used if the recipient has no account.
   */
  elseAs?: string;
};

/**
 * Queues a mail in the transaction of the change that it reports (transactional outbox), so that the mail is
 * sent only if the change happened. The content is sealed, because it may hold a sign-in link.
 */
export async function queueMail(
  { clock, ring, publicUrl }: Pick<Core, "clock" | "ring" | "publicUrl">,
  tx: Tx,
  { to, organization, elseAs }: Address,
  letter: Letter,
): Promise<void> {
  const now = clock.now();
  const id = newUuid(now);
  const mail = composeMail(to, letter, await readerOf(tx, to, elseAs), {
    publicUrl: publicUrl(),
    organization: organization?.name ?? null,
  });
  const content = ring.seal("mail", JSON.stringify(mail), id);
  await insertMail(tx, { id, organizationId: organization?.id ?? null, content, now });
  tx.notify(mailChannel, "");
}

/**
 * A name is used only if its account has verified the address. Otherwise a stranger could sign up with the
 * address and have us send any text.
 */
async function readerOf(db: Queryable, to: string, elseAs: string | undefined): Promise<Reader> {
  const account = await accountOf(db, to);
  const language =
    account?.language ?? (elseAs === undefined ? null : (await accountOf(db, elseAs))?.language);
  return {
    name: account !== null && account.emailVerifiedAt !== null ? account.name : null,
    language: mailLanguages.find((known) => known === language) ?? ("en" satisfies MailLanguage),
  };
}

async function accountOf(db: Queryable, email: string) {
  const folded = foldEmail(email);
  return folded === null ? null : findAccountOf(db, folded);
}
