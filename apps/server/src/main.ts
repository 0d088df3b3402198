import { CommandError, runCommand, shownError } from "@assay/cli/command";
import { styleOf } from "@assay/cli/style";
import { commands } from "./cli/commands.ts";
import { ConfigError } from "./config.ts";
import { MigrationError } from "./db/migrate.ts";
import { PoolerError } from "./db/pooler.ts";
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
  PoolerError,
  MigrationError,
  KeyRingError,
];

const { argv, env, stdout, stderr } = process;
try {
  const style = styleOf(stdout, stderr, env);
  process.exitCode = await runCommand(commands, argv.slice(2), (line) => console.log(line), style);
} catch (error) {
  const isExplained = explained.some((kind) => error instanceof kind);
  console.error(isExplained ? shownError((error as Error).message, styleOf(stderr, stderr, env)) : error);
  process.exitCode = error instanceof CommandError ? error.exitCode : 1;
}
