import { type Command, CommandError } from "@assay/cli/command";
import { readEmail } from "@assay/contract/email";
import type { Db } from "../../platform/db/db.ts";
import { withDatabase } from "../../platform/installation/open-installation.ts";
import { findUserByEmail, readAccount, type UserRow } from "../../tenants/accounts/user.store.ts";
import { grantOperator, listOperatorGrants, revokeOperator } from "../operator/operator.store.ts";

async function findAccount(db: Db, typed: string): Promise<UserRow> {
  const parts = readEmail(typed);
  if (parts === null) throw new CommandError("Name the account by its e-mail address.");
  const user = await findUserByEmail(db, parts.folded);
  if (user === null) throw new CommandError("There is no account with this e-mail.");
  return user;
}

function onlyOne(positionals: readonly string[]): string | null {
  if (positionals.length > 1) throw new CommandError("Name one account by its e-mail address.");
  return positionals[0] ?? null;
}

export const userGrantOperator: Command = {
  name: "user grant-operator",
  about:
    "Let an account see the operator's page. Without EMAIL, list the accounts that may see it, and former ones with the date when access ended.",
  positionals: "[EMAIL]",
  run: ({ positionals }, print) =>
    withDatabase(process.env, async (db, { clock }) => {
      const email = onlyOne(positionals);
      if (email === null) {
        const grants = await listOperatorGrants(db);
        if (grants.length === 0) print("No account may see the operator's page.");
        for (const { userId, email: address, grantedAt, revokedAt, name } of grants) {
          const until = revokedAt === null ? "" : ` until ${revokedAt.toISOString()}`;
          print(`${userId}  ${address}  since ${grantedAt.toISOString()}${until}  ${name}`);
        }
        return 0;
      }
      const user = await findAccount(db, email);
      // Anyone can sign up with any address. Only the mailed link proves that the address belongs to the
      // account.
      if (user.emailVerifiedAt === null)
        throw new CommandError(
          "The e-mail of the account is not verified. Ask its owner to open the link in the mail.",
        );
      const isNew = await grantOperator(db, user.id, clock.now());
      print(isNew ? `${user.email} may see the operator's page.` : `${user.email} is already an operator.`);
      const { totpEnabled, passkeyCount } = await readAccount(db, user.id);
      if (!totpEnabled && passkeyCount === 0)
        print(
          "The account has neither a second factor nor a passkey: its password alone gives access to the page.",
        );
      return 0;
    }),
};

export const userRevokeOperator: Command = {
  name: "user revoke-operator",
  about: "Revoke the operator's page from an account, from its next request on.",
  positionals: "EMAIL",
  run: ({ positionals }, print) =>
    withDatabase(process.env, async (db, { clock }) => {
      const user = await findAccount(db, onlyOne(positionals) ?? "");
      const was = await revokeOperator(db, user.id, clock.now());
      print(was ? `${user.email} may no longer see the operator's page.` : `${user.email} is no operator.`);
      return 0;
    }),
};
