import { keysRotate, migrateCommand, orgList } from "./cli/admin.commands.ts";
import { backup, restore } from "./cli/backup.commands.ts";
import { type Command, CommandError, runCommand } from "./cli/command.ts";
import { start, worker } from "./cli/start.command.ts";
import { ConfigError } from "./config.ts";
import { BackupError } from "./db/backup.ts";
import { EmbeddedPostgresError } from "./db/embedded-postgres.ts";

const commands: readonly Command[] = [start, worker, migrateCommand, keysRotate, orgList, backup, restore];

// What whoever typed the command can mend is said in a sentence; everything else is a fault and shows where it is.
const explained = [CommandError, ConfigError, BackupError, EmbeddedPostgresError];

try {
  process.exitCode = await runCommand(commands, process.argv.slice(2), (line) => console.log(line));
} catch (error) {
  console.error(explained.some((kind) => error instanceof kind) ? (error as Error).message : error);
  process.exitCode = 1;
}
