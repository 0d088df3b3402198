import { readFileSync } from "node:fs";
import { chmod, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Arguments, type Command, CommandError } from "@assay/cli/command";
import { loadConfig } from "../../load-config.ts";
import type { ArchiveKey, ArchiveLock } from "../../platform/installation/archive-encryption.ts";
import { backupEmbedded, encryptDump, restoreEmbedded } from "../../platform/installation/backup.ts";
import { noteBackup } from "../../platform/installation/last-backup.ts";
import { systemClock } from "../../platform/kernel/clock.ts";
import { examineCopy } from "./examine-copy.ts";

function embeddedDataDir(): string {
  const config = loadConfig(process.env);
  if (config.databaseUrl !== "") {
    throw new CommandError(
      "DATABASE_URL is set: back up that PostgreSQL with its own tools, and SECRET_KEYS separately.",
    );
  }
  return config.dataDir;
}

function onePath(positionals: readonly string[], what: string): string {
  const [path, ...rest] = positionals;
  if (path === undefined || rest.length > 0) throw new CommandError(`Name one file: ${what}.`);
  return path;
}

/** The lines of a file that an operator names, without comments. */
function linesOf(option: string, file: string): string[] {
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (error) {
    throw new CommandError(`--${option} cannot be read: ${(error as Error).message}.`);
  }
  const lines = text.split("\n").map((line) => line.trim());
  const used = lines.filter((line) => line !== "" && !line.startsWith("#"));
  if (used.length === 0) throw new CommandError(`--${option}: ${file} is empty.`);
  return used;
}

function passphraseIn(file: string): { kind: "passphrase"; passphrase: string } {
  const [passphrase = ""] = linesOf("passphrase-file", file);
  return { kind: "passphrase", passphrase };
}

function lockOf({ recipient, "passphrase-file": passphraseFile }: Arguments["options"]): ArchiveLock | null {
  if (typeof recipient === "string" && typeof passphraseFile === "string")
    throw new CommandError("Use either --recipient or --passphrase-file, not both.");
  if (typeof passphraseFile === "string") return passphraseIn(passphraseFile);
  if (typeof recipient !== "string") return null;
  const recipients = recipient.split(",").map((entry) => entry.trim());
  const wrong = recipients.findIndex((entry) => !/^age1[a-z0-9]+$/.test(entry));
  if (wrong !== -1)
    throw new CommandError(
      `--recipient: entry ${wrong + 1} is not an age public key, which begins with age1.`,
    );
  return { kind: "recipients", recipients };
}

function keyOf({ identity, "passphrase-file": passphraseFile }: Arguments["options"]): ArchiveKey | null {
  if (typeof passphraseFile === "string") return passphraseIn(passphraseFile);
  return typeof identity === "string"
    ? { kind: "identities", identities: linesOf("identity", identity) }
    : null;
}

const opening = {
  identity: {
    type: "string",
    about: "File with the age private key that opens the archive.",
    placeholder: "FILE",
  },
  "passphrase-file": {
    type: "string",
    about: "File with the passphrase of the archive.",
    placeholder: "FILE",
  },
} as const;

export const backup: Command = {
  name: "backup",
  about:
    "Write one archive with the built-in database and the key ring. Works while the service runs. The archive holds secrets: encrypt it, or protect it like the keys. With --verify, restore an archive into a scratch folder, start its database and report its content.",
  positionals: "FILE",
  options: {
    recipient: {
      type: "string",
      about: "Encrypt to these age public keys (https://age-encryption.org), comma separated.",
      placeholder: "age1…",
    },
    ...opening,
    "without-keys": {
      type: "boolean",
      about: "Leave the key ring out. You need the key ring to use the archive.",
    },
    dump: {
      type: "string",
      about: "Only encrypt this dump of your own PostgreSQL (pg_dump) to --recipient.",
      placeholder: "FILE",
    },
    verify: { type: "boolean", about: "Write nothing. Restore FILE into a scratch folder and report." },
  },
  examples: [
    "backup /backups/assay-monday.tar.gz",
    "backup /backups/assay-monday.tar.gz.age --recipient age1…",
    "backup /backups/assay-monday.dump.age --dump assay.dump --recipient age1…",
    "backup --verify /backups/assay-monday.tar.gz.age --identity key.txt",
  ],
  run: async ({ positionals, options }, print, style) => {
    if (options.verify === true) {
      const fromFile = onePath(positionals, "the archive to verify");
      return await style.progress("Restoring into a scratch folder…", () =>
        verify(fromFile, keyOf(options), print),
      );
    }
    const toFile = onePath(positionals, "the archive to write");
    const lock = lockOf(options);
    if (typeof options.dump === "string") {
      if (lock === null) throw new CommandError("--dump needs --recipient or --passphrase-file.");
      const written = await encryptDump(options.dump, toFile, lock);
      print(`Wrote ${toFile} (${(written.bytes / 2 ** 20).toFixed(1)} MB).`);
      return 0;
    }
    const dataDir = embeddedDataDir();
    const withKeys = options["without-keys"] !== true;
    const { bytes } = await style.progress("Copying…", () =>
      backupEmbedded({ dataDir, env: process.env, toFile, lock, withKeys, log: print }),
    );
    noteBackup(dataDir, systemClock.now());
    print(`Wrote ${toFile} (${(bytes / 2 ** 20).toFixed(1)} MB${lock === null ? ", not encrypted" : ""}).`);
    return 0;
  },
};

/**
 * Starts only the database of the copy: its service would send the mails and webhooks that are queued in it.
 */
async function verify(
  fromFile: string,
  key: ArchiveKey | null,
  print: (line: string) => void,
): Promise<number> {
  const scratch = await mkdtemp(join(tmpdir(), "assay-verify-"));
  try {
    // The database server may run under another account.
    await chmod(scratch, 0o755);
    const dataDir = join(scratch, "data");
    const startedAt = performance.now();
    await restoreEmbedded({ fromFile, dataDir, key });
    const problems = await examineCopy(dataDir, process.env, print);
    for (const problem of problems) print(`Problem: ${problem}`);
    const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
    print(
      problems.length === 0
        ? `${fromFile} can be restored; this took ${seconds} s.`
        : `${fromFile} can be restored, but parts of it cannot be used.`,
    );
    return problems.length === 0 ? 0 : 1;
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

export const restore: Command = {
  name: "restore",
  about: "Restore DATA_DIR from an archive that `assay backup` wrote. DATA_DIR must be empty or absent.",
  positionals: "FILE",
  options: opening,
  examples: [
    "restore /backups/assay-monday.tar.gz",
    "restore /backups/assay-monday.tar.gz.age --identity key.txt",
  ],
  run: async ({ positionals, options }, print, style) => {
    const dataDir = embeddedDataDir();
    const fromFile = onePath(positionals, "the archive to read");
    const key = keyOf(options);
    await style.progress("Restoring…", () => restoreEmbedded({ fromFile, dataDir, key, log: print }));
    print(`Restored into ${dataDir}. Start the service as usual.`);
    return 0;
  },
};
