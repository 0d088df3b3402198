import { loadConfig } from "../config.ts";
import { systemClock } from "../kernel/clock.ts";
import { auditTrustFolder, importTrustFile, listTrust } from "../trust/trust-command.ts";
import { trustFolderPath } from "../trust/trust-folder.ts";
import { type Command, CommandError } from "./command.ts";

const folder = () => trustFolderPath(loadConfig(process.env).dataDir);
const entries = (value: string | boolean | undefined) =>
  typeof value === "string" ? value.split(",").filter((entry) => entry !== "") : [];

export const trustImport: Command = {
  name: "trust import",
  about:
    "Import trusted certificates: a master list (.ml), LDIF, PEM or DER file, or a revocation list. A master list needs a root that vouches for its signer.",
  positionals: "FILE",
  options: {
    root: {
      type: "string",
      about: "Files with certificates that may vouch for a master list, comma separated.",
      placeholder: "FILES",
    },
    pin: {
      type: "string",
      about: "SHA-256 fingerprints of signers that you have checked by other means, comma separated.",
      placeholder: "SHA256",
    },
  },
  run: async ({ options, positionals }, print) => {
    const [file, ...more] = positionals;
    if (file === undefined || more.length > 0) throw new CommandError("Name one file to import.");
    return importTrustFile(
      {
        folder: folder(),
        file,
        rootFiles: entries(options.root),
        pinnedSha256: entries(options.pin),
        now: systemClock.now(),
      },
      print,
    );
  },
};

export const trustList: Command = {
  name: "trust list",
  about: "List the trusted authorities, with where each came from.",
  options: { country: { type: "string", about: "Two-letter code of one country.", placeholder: "CC" } },
  run: ({ options }, print) =>
    listTrust(
      { folder: folder(), ...(typeof options.country === "string" ? { country: options.country } : {}) },
      print,
    ),
};

export const trustAudit: Command = {
  name: "trust audit",
  about: "Show what is expired, has no parent, or lacks a fresh revocation list, by country.",
  run: (_args, print) => auditTrustFolder({ folder: folder(), now: systemClock.now() }, print),
};
