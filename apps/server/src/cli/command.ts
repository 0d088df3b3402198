import { type ParseArgsOptionsConfig, parseArgs } from "node:util";

type Option = { type: "string" | "boolean"; about: string; required?: boolean; placeholder?: string };

export type Arguments = {
  options: Record<string, string | boolean | undefined>;
  positionals: readonly string[];
};

export type Command = {
  /** As typed after `assay`, for example `keys rotate`. */
  name: string;
  about: string;
  positionals?: string;
  options?: Record<string, Option>;
  /** Resolves with the exit code; a long-running command resolves when it has come to rest. */
  run: (args: Arguments, print: (line: string) => void) => Promise<number>;
};

/** A mistake in the command, or something that the operator can mend: shown without a stack trace. */
export class CommandError extends Error {
  readonly exitCode: number;

  constructor(message: string, exitCode = 1) {
    super(message);
    this.exitCode = exitCode;
  }
}

export function helpOf(command: Command): string {
  const options = Object.entries(command.options ?? {});
  const usage = ["assay", command.name, command.positionals, options.length > 0 ? "[options]" : undefined];
  const lines = [`Usage: ${usage.filter((part) => part !== undefined).join(" ")}`, "", command.about];
  const shown = options.map(([name, option]) => [
    `  --${name}${option.type === "string" ? ` ${option.placeholder ?? name.toUpperCase()}` : ""}`,
    `${option.about}${option.required ? " (required)" : ""}`,
  ]);
  shown.push(["  --help", "Show this."]);
  const width = Math.max(...shown.map(([flag]) => flag?.length ?? 0)) + 2;
  lines.push("", "Options:", ...shown.map(([flag, about]) => `${flag?.padEnd(width)}${about}`));
  lines.push("", "Settings come from the environment; docs/configuration.md lists them.");
  return lines.join("\n");
}

export function overview(commands: readonly Command[]): string {
  const width = Math.max(...commands.map((command) => command.name.length)) + 4;
  return [
    "Usage: assay COMMAND [options]",
    "",
    ...commands.map(
      (command) => `  ${command.name.padEnd(width)}${command.about.split(". ")[0]?.replace(/\.$/, "")}.`,
    ),
    "",
    "`assay COMMAND --help` tells more.",
  ].join("\n");
}

export async function runCommand(
  commands: readonly Command[],
  argv: readonly string[],
  print: (line: string) => void,
): Promise<number> {
  if (argv.length === 0 || argv[0] === "--help" || argv[0] === "help") {
    print(overview(commands));
    return argv.length === 0 ? 2 : 0;
  }
  const command = commands.find(({ name }) => name.split(" ").every((word, i) => argv[i] === word));
  if (command === undefined)
    throw new CommandError(`There is no command "${argv.slice(0, 2).join(" ")}".\n\n${overview(commands)}`);
  const rest = argv.slice(command.name.split(" ").length);
  if (rest.includes("--help")) {
    print(helpOf(command));
    return 0;
  }
  const options: ParseArgsOptionsConfig = {};
  for (const [name, option] of Object.entries(command.options ?? {})) options[name] = { type: option.type };
  let parsed: { values: Record<string, unknown>; positionals: string[] };
  try {
    parsed = parseArgs({
      args: rest,
      options,
      allowPositionals: command.positionals !== undefined,
      strict: true,
    });
  } catch (error) {
    throw new CommandError(`${(error as Error).message}\n\n${helpOf(command)}`);
  }
  for (const [name, option] of Object.entries(command.options ?? {})) {
    if (option.required && parsed.values[name] === undefined)
      throw new CommandError(`--${name} is missing.\n\n${helpOf(command)}`);
  }
  return command.run(
    { options: parsed.values as Arguments["options"], positionals: parsed.positionals },
    print,
  );
}
