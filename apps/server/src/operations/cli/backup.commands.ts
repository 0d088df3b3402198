import { type Command, CommandError } from "@assay/cli/command";
import { loadConfig } from "../../load-config.ts";
import { backupEmbedded, restoreEmbedded } from "../../platform/installation/backup.ts";
import { noteBackup } from "../../platform/installation/last-backup.ts";
import { systemClock } from "../../platform/kernel/clock.ts";

function embeddedDataDir(): string {
  const config = loadConfig(process.env);
  if (config.databaseUrl !== "") {
    throw new CommandError(
      "DATABASE_URL is set: back up that PostgreSQL with its own tools, and SECRET_KEYS apart from it.",
    );
  }
  return config.dataDir;
}

function onePath(positionals: readonly string[], what: string): string {
  const [path, ...rest] = positionals;
  if (path === undefined || rest.length > 0) throw new CommandError(`Name one file: ${what}.`);
  return path;
}

export const backup: Command = {
  name: "backup",
  about:
    "Write one archive with the built-in database and the key ring. Works while the service runs. The archive holds secrets.",
  positionals: "FILE",
  examples: ["backup /backups/assay-monday.tar.gz"],
  run: async ({ positionals }, print, style) => {
    const toFile = onePath(positionals, "the archive to write");
    const dataDir = embeddedDataDir();
    const { bytes } = await style.progress("Copying…", () =>
      backupEmbedded({ dataDir, env: process.env, toFile, log: print }),
    );
    noteBackup(dataDir, systemClock.now());
    print(`Wrote ${toFile} (${(bytes / 2 ** 20).toFixed(1)} MB).`);
    return 0;
  },
};

export const restore: Command = {
  name: "restore",
  about: "Make DATA_DIR from an archive that `assay backup` wrote. DATA_DIR must be empty or absent.",
  positionals: "FILE",
  examples: ["restore /backups/assay-monday.tar.gz"],
  run: async ({ positionals }, print, style) => {
    const dataDir = embeddedDataDir();
    const fromFile = onePath(positionals, "the archive to read");
    await style.progress("Restoring…", () => restoreEmbedded({ fromFile, dataDir, log: print }));
    print(`Restored into ${dataDir}. Start the service as usual.`);
    return 0;
  },
};
