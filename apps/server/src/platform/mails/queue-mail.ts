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
  /** The organization that the mail is about, with whose deletion it goes. */
  organization?: { id: OrganizationId; name: string };
  /** Whose language it is written in where the address has no account: that of whoever caused the mail. */
  elseAs?: string;
};

/**
 * Queues a mail in the transaction of the change that it reports (a transactional outbox): none is lost, and none is
 * sent for something that did not happen. The content is sealed, because it may hold a link that signs in.
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
 * A name is used only where the address was proven by the account that has the name: anybody may sign up with another's address, and would have
 * us send that person whatever text they like.
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
