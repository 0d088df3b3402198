import { type Command, CommandError } from "@assay/cli/command";
import { purposes } from "@assay/credential/trust-anchor";
import { parsePolicy } from "@assay/emrtd/verify/parse-policy";
import {
  importTrustFile,
  keepTrustImport,
  listTrust,
  listTrustImports,
  printTrustAudit,
  printTrustLog,
  printTrustStatus,
  refreshTrustNow,
  removeTrustImport,
} from "../../verification/trust/trust-command.ts";
import {
  importWalletTrustFile,
  listWalletTrust,
  printWalletTrust,
} from "../../verification/trust/wallet-trust-command.ts";
import { withTrust } from "./with-trust.ts";

const jsonOption = { type: "boolean", about: "Print one JSON object per line." } as const;

const entries = (value: string | boolean | undefined) =>
  typeof value === "string" ? value.split(",").filter((entry) => entry !== "") : [];

const purposeOf = (value: string | boolean | undefined) =>
  purposes.find((purpose) => purpose === value) ?? null;

export const trustImport: Command = {
  name: "trust import",
  about:
    "Import trusted certificates: a master list (.ml), LDIF, PEM or DER file, a revocation list or a deviation list. A master list needs a root that vouches for its signer. With --purpose, import issuers of wallet credentials: PEM, DER, a list of trusted entities (LoTE) or a VICAL. --pin names the signer of the latter two.",
  positionals: "FILE",
  options: {
    root: {
      type: "string",
      about: "Files with root certificates for the signer of a master list, comma separated.",
      placeholder: "FILES",
    },
    pin: {
      type: "string",
      about: "SHA-256 fingerprints of signers that you have verified by other means, comma separated.",
      placeholder: "SHA256",
    },
    purpose: {
      type: "string",
      about: "What the authorities may issue. Default: passports.",
      values: purposes,
    },
    sandbox: { type: "boolean", about: "With --purpose: trust the issuers in the sandbox only." },
  },
  examples: [
    "trust import --purpose mdl --pin 3f…a1 vical.cbor",
    "trust import --purpose pid --sandbox test-roots.pem",
  ],
  run: async ({ options, positionals }, print) => {
    const [file, ...more] = positionals;
    if (file === undefined || more.length > 0) throw new CommandError("Name one file to import.");
    const purpose = purposeOf(options.purpose);
    const scope = options.sandbox === true ? "sandbox" : "live";
    if (purpose === null && scope === "sandbox")
      throw new CommandError(
        "--sandbox needs --purpose: the sandbox accepts only passports of the test country.",
      );
    if (purpose !== null && options.root !== undefined)
      throw new CommandError("--root is for passports. Name the signer of a list with --pin.");
    if (purpose !== null)
      return withTrust(print, (db, now, config) => {
        const pinnedSha256 = entries(options.pin);
        return importWalletTrustFile(db, { file, purpose, scope, pinnedSha256, now, config }, print);
      });
    return withTrust(print, (db, now) =>
      importTrustFile(
        db,
        { file, rootFiles: entries(options.root), pinnedSha256: entries(options.pin), now },
        print,
      ),
    );
  },
};

export const trustList: Command = {
  name: "trust list",
  about: "List the trusted authorities and the deviation lists, with where each came from.",
  options: {
    country: { type: "string", about: "Two-letter code of one country.", placeholder: "CC" },
    imports: { type: "boolean", about: "List the imported files instead." },
    purpose: {
      type: "string",
      about: "List the wallet issuers of this purpose instead.",
      values: purposes,
    },
    json: jsonOption,
  },
  examples: ["trust list --country DE", "trust list --purpose pid", "trust list --imports --json"],
  run: ({ options }, print) =>
    withTrust(print, (db, now, config) => {
      const purpose = purposeOf(options.purpose);
      const json = options.json === true;
      if (purpose !== null) return listWalletTrust(db, { purpose, json, now, config }, print);
      return options.imports === true
        ? listTrustImports(db, print, json)
        : listTrust(
            db,
            { now, json, ...(typeof options.country === "string" ? { country: options.country } : {}) },
            print,
          );
    }),
};

export const trustRemove: Command = {
  name: "trust remove",
  about: "Remove an imported file, named by its SHA-256 or a prefix of it.",
  positionals: "SHA256",
  run: async ({ positionals }, print) => {
    const [sha256, ...more] = positionals;
    if (sha256 === undefined || more.length > 0)
      throw new CommandError("Name one imported file by its SHA-256.");
    return withTrust(print, (db, now) => removeTrustImport(db, sha256, now, print));
  },
};

export const trustAudit: Command = {
  name: "trust audit",
  about:
    "Show by country which certificates are expired, have no issuer or lack a current revocation list. Also shows TRUST_POLICY.",
  run: (_args, print) =>
    withTrust(print, (db, now, { trustPolicy }) => printTrustAudit(db, parsePolicy(trustPolicy), now, print)),
};

export const trustLog: Command = {
  name: "trust log",
  about: "Show the changes to the trust store, newest first.",
  options: { json: jsonOption },
  run: ({ options }, print) => withTrust(print, (db) => printTrustLog(db, print, options.json === true)),
};

export const trustStatus: Command = {
  name: "trust status",
  about: "Show what is trusted, how current it is, and the last result of each source.",
  run: (_args, print) =>
    withTrust(print, async (db, now, config) => {
      const code = await printTrustStatus(db, now, print);
      await printWalletTrust(db, config, now, print);
      return code;
    }),
};

export const trustKeep: Command = {
  name: "trust keep",
  about:
    "Keep certificates that a newer edition of a source lacks, named by the SHA-256 of the earlier edition.",
  positionals: "SHA256",
  run: async ({ positionals }, print) => {
    const [sha256, ...more] = positionals;
    if (sha256 === undefined || more.length > 0) throw new CommandError("Name one file by its SHA-256.");
    return withTrust(print, (db, now) => keepTrustImport(db, sha256, now, print));
  },
};

export const trustRefresh: Command = {
  name: "trust refresh",
  about: "Fetch every source again within a minute.",
  run: (_args, print) => withTrust(print, (db, now) => refreshTrustNow(db, now, print)),
};
