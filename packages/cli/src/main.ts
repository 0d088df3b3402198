import { CommandError, runCommand } from "./command.ts";
import { partnerCommands } from "./partner-commands.ts";

try {
  process.exitCode = await runCommand(partnerCommands, process.argv.slice(2), (line) => console.log(line));
} catch (error) {
  console.error(error instanceof CommandError ? error.message : error);
  process.exitCode = error instanceof CommandError ? error.exitCode : 1;
}
