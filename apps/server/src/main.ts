import { setSourceMapsSupport } from "node:module";
import { CommandError, runCommand, shownError } from "@assay/cli/command";
import { styleOf } from "@assay/cli/style";
import { commandsFor } from "./operations/cli/commands.ts";
import { ExplainedError } from "./platform/lib/explained-error.ts";

// Makes stack traces name the source instead of the bundle. Commands are loaded after this line.
setSourceMapsSupport(true, { nodeModules: false, generatedCode: false });
const { argv, env, stdout, stderr } = process;
const typed = argv.slice(2);
try {
  const style = styleOf(stdout, stderr, env);
  process.exitCode = await runCommand(await commandsFor(typed), typed, (line) => console.log(line), style);
} catch (error) {
  // The user can correct an explained error. Any other error is a fault and keeps its stack trace.
  const isExplained = error instanceof CommandError || error instanceof ExplainedError;
  console.error(isExplained ? shownError(error.message, styleOf(stderr, stderr, env)) : error);
  process.exitCode = error instanceof CommandError ? error.exitCode : 1;
}
