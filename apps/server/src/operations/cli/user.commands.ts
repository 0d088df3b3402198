import { readFileSync } from "node:fs";
import { type Command, CommandError } from "@assay/cli/command";
import { table } from "@assay/cli/style";
import { readEmail } from "@assay/contract/email";
import type { UserId } from "@assay/contract/ids";
import { Uuid } from "@assay/contract/schema";
import { Check } from "typebox/value";
import { withDatabase } from "../../platform/installation/open-installation.ts";
import { ApiError } from "../../platform/kernel/api-error.ts";
import { knownId } from "../../platform/kernel/ids.ts";
import { createUser, preparePerson } from "../../tenants/accounts/create-user.ts";
import {
  isTakenEmail,
  listEmailsSetAside,
  lockUser,
  setVerifiedEmail,
} from "../../tenants/accounts/user.store.ts";

/**
 * Reads a secret from a file or standard input, which keeps it out of the process list and the shell history.
 */
function readSecret(path: string): string {
  return readFileSync(path === "-" ? 0 : path, "utf8").replace(/\r?\n$/, "");
}

export const userCreate: Command = {
  name: "user create",
  about:
    "Create an account with a verified e-mail. The command reads the password from a file or standard input, never from an argument.",
  options: {
    name: { type: "string", about: "Name of the person.", required: true },
    email: { type: "string", about: "E-mail to sign in with.", required: true },
    "password-file": {
      type: "string",
      about: "File that holds the password, or - for standard input. Default: -.",
      placeholder: "FILE",
    },
  },
  examples: ["user create --name Ada --email ada@example.com --password-file password.txt"],
  run: ({ options }, print) =>
    withDatabase(process.env, async (db, { clock }) => {
      const text = (name: string) => (typeof options[name] === "string" ? options[name] : "");
      const password = readSecret(text("password-file") || "-");
      try {
        const user = await createUser(
          { db, clock },
          await preparePerson({ name: text("name"), email: text("email"), password }),
          { emailVerified: true },
        );
        print(`Created ${user.id}.`);
        return 0;
      } catch (error) {
        if (error instanceof ApiError) throw new CommandError(`${error.message} ${error.hint}`);
        throw error;
      }
    }),
};

export const userSetEmail: Command = {
  name: "user set-email",
  about:
    "Set a new, verified e-mail for an account. Without options, list the accounts that cannot sign in with their e-mail.",
  options: {
    id: { type: "string", about: "Identifier of the account." },
    email: { type: "string", about: "New e-mail to sign in with." },
    json: { type: "boolean", about: "List as one JSON object per line." },
  },
  run: ({ options }, print, style) =>
    withDatabase(process.env, async (db, { clock }) => {
      const { id, email } = options;
      if (typeof id !== "string" && typeof email !== "string") {
        const users = await listEmailsSetAside(db);
        if (options.json === true) {
          for (const user of users) print(JSON.stringify(user));
          return 0;
        }
        if (users.length === 0) print("Every account can sign in with its e-mail.");
        const cells = users.map((user) => [user.id, user.email, user.name]);
        if (users.length > 0) for (const line of table(["id", "e-mail", "name"], cells, style)) print(line);
        return 0;
      }
      const parts = typeof email === "string" ? readEmail(email) : null;
      if (parts === null) throw new CommandError("--email must be an e-mail address.");
      if (typeof id !== "string" || !Check(Uuid, id))
        throw new CommandError("--id must be the identifier of an account.");
      const userId = knownId<UserId>(id);
      try {
        await db.transaction(async (tx) => {
          if ((await lockUser(tx, userId)) === null) throw new CommandError("There is no such account.");
          await setVerifiedEmail(tx, userId, parts, clock.now());
        });
      } catch (error) {
        if (isTakenEmail(error)) throw new CommandError("Another account has this e-mail.");
        throw error;
      }
      print(`The account now signs in with ${parts.address}.`);
      return 0;
    }),
};
