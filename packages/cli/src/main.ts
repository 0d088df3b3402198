import { CommandError, runCommand, shownError } from "./command.ts";
import { partnerCommands } from "./partner-commands.ts";
import { styleOf } from "./style.ts";

const { argv, env, stdout, stderr } = process;
try {
  const style = styleOf(stdout, stderr, env);
  process.exitCode = await runCommand(partnerCommands, argv.slice(2), (line) => console.log(line), style);
} catch (error) {
  const isMistake = error instanceof CommandError;
  console.error(isMistake ? shownError(error.message, styleOf(stderr, stderr, env)) : error);
  process.exitCode = isMistake ? error.exitCode : 1;
}
