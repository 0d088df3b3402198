import { type Arguments, type Command, CommandError } from "@assay/cli/command";
import type { Core } from "../../platform/core.ts";
import { withDatabase } from "../../platform/installation/open-installation.ts";
import {
  importIdentity,
  importRegistration,
  listWalletIdentities,
  newIdentity,
  retireWalletIdentity,
} from "../../verification/wallet-identity/identity-command.ts";

const sandboxOption = {
  type: "boolean",
  about:
    "For sandbox sessions. They have an identity of their own already; real test wallets may want another.",
} as const;

const environmentOf = ({ options }: Arguments) => (options.sandbox === true ? "sandbox" : "live");

const textOf = (value: string | boolean | undefined) => (typeof value === "string" ? value : null);

function onePositional({ positionals }: Arguments, what: string): string {
  const [value, ...more] = positionals;
  if (value === undefined || more.length > 0) throw new CommandError(`Name one ${what}.`);
  return value;
}

const withIdentities = (work: (around: Pick<Core, "db" | "ring" | "clock" | "config">) => Promise<number>) =>
  withDatabase(process.env, (db, { ring, clock, config }) => work({ db, ring, clock, config }));

export const walletIdentityNew: Command = {
  name: "wallet identity new",
  about:
    "Make a key with which requests to wallets are signed, and a request for its certificate (PKCS #10). The key is kept sealed in the database.",
  options: {
    name: {
      type: "string",
      about: "Legal name of the operator, as it is registered.",
      required: true,
    },
    identifier: {
      type: "string",
      about: "Identifier of the register, such as VATDE-123456789. Registration certificates name it.",
      placeholder: "ID",
    },
    country: { type: "string", about: "Two-letter code of the country.", placeholder: "CC" },
    out: {
      type: "string",
      about: "File to write the request to. Default: it is printed.",
      placeholder: "FILE",
    },
    sandbox: sandboxOption,
  },
  examples: [
    'wallet identity new --name "Example GmbH" --identifier VATDE-123456789 --country DE --out request.pem',
  ],
  run: (args, print) => {
    const { name, identifier, country, out } = args.options;
    const code = textOf(country)?.toUpperCase() ?? null;
    if (code !== null && !/^[A-Z]{2}$/.test(code)) throw new CommandError("--country must be two letters.");
    return withIdentities((around) => {
      const host = around.config.publicUrl === "" ? null : new URL(around.config.publicUrl).hostname;
      const organization = textOf(name);
      const subject = {
        commonName: organization ?? host ?? "Assay",
        organization,
        country: code,
        identifier: textOf(identifier),
      };
      return newIdentity(
        around,
        { environment: environmentOf(args), subject, host, out: textOf(out) },
        print,
      );
    });
  },
};

export const walletIdentityImport: Command = {
  name: "wallet identity import",
  about:
    "Import the certificate that an authority issued for a key of this installation, with the certificates between it and the root, leaf first (PEM). An identity that is in use stays beside it.",
  positionals: "CHAIN",
  options: { sandbox: sandboxOption },
  run: (args, print) => {
    const file = onePositional(args, "file with certificates");
    return withIdentities((around) =>
      importIdentity(around, { file, environment: environmentOf(args) }, print),
    );
  },
};

export const walletIdentityRetire: Command = {
  name: "wallet identity retire",
  about: "Sign no request with an identity any more.",
  positionals: "ID",
  run: (args, print) => {
    const id = onePositional(args, "identity by its identifier");
    return withIdentities((around) => retireWalletIdentity(around, id, print));
  },
};

export const walletIdentityList: Command = {
  name: "wallet identity list",
  about: "List the identities with which requests to wallets are signed.",
  options: { json: { type: "boolean", about: "One JSON text a line, for programs." } },
  run: ({ options }, print) =>
    withIdentities((around) => listWalletIdentities(around, print, options.json === true)),
};

export const walletRegistrationImport: Command = {
  name: "wallet registration import",
  about:
    "Import a registration certificate (a JWT of the type rc-wrp+jwt), which requests of the identity in use then carry.",
  positionals: "JWT",
  options: { sandbox: sandboxOption },
  run: (args, print) => {
    const file = onePositional(args, "file with a registration certificate");
    return withIdentities((around) =>
      importRegistration(around, { file, environment: environmentOf(args) }, print),
    );
  },
};
