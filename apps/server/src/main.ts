import { explainFailure, keysRotate, migrateCommand, orgList } from "./cli/admin.commands.ts";
import { type Command, runCommand } from "./cli/command.ts";
import { start, worker } from "./cli/start.command.ts";
import { EmbeddedPostgresError } from "./db/embedded-postgres.ts";

const commands: readonly Command[] = [start, worker, migrateCommand, keysRotate, orgList];

try {
  process.exitCode = await runCommand(commands, process.argv.slice(2), (line) => console.log(line));
} catch (error) {
  const explained = error instanceof EmbeddedPostgresError ? error.message : explainFailure(error);
  console.error(explained ?? error);
  process.exitCode = 1;
}
