import { migrateCommand, orgList } from "./cli/admin.commands.ts";
import { backup, restore } from "./cli/backup.commands.ts";
import { type Command, CommandError, runCommand } from "./cli/command.ts";
import { jobsCommand, jobsRetry } from "./cli/jobs.commands.ts";
import { keysRotate } from "./cli/keys.command.ts";
import { readCommand, virtualDocument } from "./cli/read.command.ts";
import { simulateCommand } from "./cli/simulate.command.ts";
import { start, worker } from "./cli/start.command.ts";
import {
  trustAudit,
  trustImport,
  trustKeep,
  trustList,
  trustLog,
  trustRefresh,
  trustRemove,
  trustStatus,
} from "./cli/trust.commands.ts";
import { userCreate, userSetEmail } from "./cli/user.commands.ts";
import { ConfigError } from "./config.ts";
import { MigrationError } from "./db/migrate.ts";
import { DatabaseUnreachableError } from "./db/wait-for-database.ts";
import { BackupError } from "./installation/backup.ts";
import { EmbeddedPostgresError } from "./installation/postgres/embedded-postgres-error.ts";
import { KeyRingError } from "./key-ring/ring-member.ts";

const commands: readonly Command[] = [
  start,
  worker,
  migrateCommand,
  userCreate,
  userSetEmail,
  orgList,
  keysRotate,
  // The longer name first: the shorter one is a part of it.
  jobsRetry,
  jobsCommand,
  backup,
  restore,
  trustImport,
  trustList,
  trustRemove,
  trustAudit,
  trustStatus,
  trustKeep,
  trustRefresh,
  trustLog,
  readCommand,
  virtualDocument,
  simulateCommand,
];

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
