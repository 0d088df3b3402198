import { readFileSync } from "node:fs";
import { createUser, preparePerson } from "../accounts/create-user.ts";
import { withDatabase } from "../installation/open-installation.ts";
import { ApiError } from "../kernel/api-error.ts";
import { type Command, CommandError } from "./command.ts";

/** Reads a secret from a file or standard input, so that it stays out of the process list and the shell's history. */
function readSecret(path: string): string {
  return readFileSync(path === "-" ? 0 : path, "utf8").replace(/\r?\n$/, "");
}

export const userCreate: Command = {
  name: "user create",
  about:
    "Create an account whose e-mail counts as verified. The password is read from a file or standard input, never from the command line.",
  options: {
    name: { type: "string", about: "Name of the person.", required: true },
    email: { type: "string", about: "E-mail to sign in with.", required: true },
    "password-file": {
      type: "string",
      about: "File that holds the password, or - for standard input. Default: -.",
      placeholder: "FILE",
    },
  },
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
