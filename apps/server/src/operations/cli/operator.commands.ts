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
  if (user === null) throw new CommandError("No account signs in with this e-mail.");
  return user;
}

function onlyOne(positionals: readonly string[]): string | null {
  if (positionals.length > 1) throw new CommandError("Name one account by its e-mail address.");
  return positionals[0] ?? null;
}

export const userGrantOperator: Command = {
  name: "user grant-operator",
  about:
    "Let an account see the operator's page. Without EMAIL, list who may see it, and who might before and until when.",
  positionals: "[EMAIL]",
  run: ({ positionals }, print) =>
    withDatabase(process.env, async (db, { clock }) => {
      const email = onlyOne(positionals);
      if (email === null) {
        const grants = await listOperatorGrants(db);
        if (grants.length === 0) print("Nobody may see the operator's page.");
        for (const { userId, email: address, grantedAt, revokedAt, name } of grants) {
          const until = revokedAt === null ? "" : ` until ${revokedAt.toISOString()}`;
          print(`${userId}  ${address}  since ${grantedAt.toISOString()}${until}  ${name}`);
        }
        return 0;
      }
      const user = await findAccount(db, email);
      // Whoever signs up first with an address has its account; only a link that was mailed there tells that it is theirs.
      if (user.emailVerifiedAt === null)
        throw new CommandError(
          "The account has not proven its e-mail, so it may be anybody's. Have its owner open the link that was mailed there.",
        );
      const isNew = await grantOperator(db, user.id, clock.now());
      print(isNew ? `${user.email} may see the operator's page.` : `${user.email} is an operator already.`);
      const { totpEnabled, passkeyCount } = await readAccount(db, user.id);
      if (!totpEnabled && passkeyCount === 0)
        print(
          "The account has neither a second factor nor a passkey: whoever knows its password sees it too.",
        );
      return 0;
    }),
};

export const userRevokeOperator: Command = {
  name: "user revoke-operator",
  about: "Take the operator's page away from an account, from its next request on.",
  positionals: "EMAIL",
  run: ({ positionals }, print) =>
    withDatabase(process.env, async (db, { clock }) => {
      const user = await findAccount(db, onlyOne(positionals) ?? "");
      const was = await revokeOperator(db, user.id, clock.now());
      print(was ? `${user.email} may no longer see the operator's page.` : `${user.email} is no operator.`);
      return 0;
    }),
};
