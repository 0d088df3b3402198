import { CommandError, runCommand } from "@assay/cli/command";
import { commands } from "./cli/commands.ts";
import { ConfigError } from "./config.ts";
import { MigrationError } from "./db/migrate.ts";
import { DatabaseUnreachableError } from "./db/wait-for-database.ts";
import { BackupError } from "./installation/backup.ts";
import { EmbeddedPostgresError } from "./installation/postgres/embedded-postgres-error.ts";
import { KeyRingError } from "./key-ring/ring-member.ts";

// What whoever typed the command can mend is said in a sentence; everything else is a fault and shows where it is.
const explained = [
  CommandError,
  ConfigError,
  BackupError,
  EmbeddedPostgresError,
  DatabaseUnreachableError,
  MigrationError,
  KeyRingError,
];

try {
  process.exitCode = await runCommand(commands, process.argv.slice(2), (line) => console.log(line));
} catch (error) {
  console.error(explained.some((kind) => error instanceof kind) ? (error as Error).message : error);
  process.exitCode = error instanceof CommandError ? error.exitCode : 1;
}
