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
  about: "For sandbox sessions. They have a built-in identity; some test wallets require another.",
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
    "Create a key that signs requests to wallets, and a certificate request for it (PKCS #10). The key is stored sealed in the database.",
  options: {
    name: {
      type: "string",
      about: "Registered legal name of the operator.",
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
      about: "File to write the request to. Default: standard output.",
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
    "Import the certificate that an authority issued for a key of this installation, with its intermediates, leaf first (PEM). An identity in use stays active.",
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
  about: "Stop signing requests with an identity.",
  positionals: "ID",
  run: (args, print) => {
    const id = onePositional(args, "identity by its identifier");
    return withIdentities((around) => retireWalletIdentity(around, id, print));
  },
};

export const walletIdentityList: Command = {
  name: "wallet identity list",
  about: "List the identities that sign requests to wallets.",
  options: { json: { type: "boolean", about: "Print one JSON object per line." } },
  run: ({ options }, print) =>
    withIdentities((around) => listWalletIdentities(around, print, options.json === true)),
};

export const walletRegistrationImport: Command = {
  name: "wallet registration import",
  about:
    "Import a registration certificate (a JWT of the type rc-wrp+jwt). Requests of the identity in use then carry it.",
  positionals: "JWT",
  options: { sandbox: sandboxOption },
  run: (args, print) => {
    const file = onePositional(args, "file with a registration certificate");
    return withIdentities((around) =>
      importRegistration(around, { file, environment: environmentOf(args) }, print),
    );
  },
};
