import { type ParseArgsOptionsConfig, parseArgs } from "node:util";
import { nearest } from "@assay/contract/nearest";
import { plainStyle, type Style } from "./style.ts";

type Option = {
  type: "string" | "boolean";
  about: string;
  required?: boolean;
  placeholder?: string;
  /** May be given several times; the values are in `lists`. */
  multiple?: true;
  /** The only allowed values. */
  values?: readonly string[];
  /** Values of earlier releases, each with a sentence on what replaces it. */
  removedValues?: Readonly<Record<string, string>>;
};

export type Arguments = {
  options: Record<string, string | boolean | undefined>;
  /** The values of options that may be repeated. */
  lists: Record<string, readonly string[]>;
  positionals: readonly string[];
};

export type Command = {
  /** As typed after `assay`, for example `keys rotate`. */
  name: string;
  about: string;
  positionals?: string;
  options?: Record<string, Option>;
  /** Arguments as typed after `assay`. */
  examples?: readonly string[];
  /** Exit codes other than 0 (success) and 1 (wrong command). */
  exitCodes?: Readonly<Record<number, string>>;
  /** Notes on the environment, for commands that do not read the service's settings. */
  environment?: string;
  /** Resolves with the exit code; a long-running command resolves when it has come to rest. */
  run: (args: Arguments, print: (line: string) => void, style: Style) => Promise<number>;
};

/** A mistake that the user of the command can fix: shown without a stack trace. */
export class CommandError extends Error {
  readonly exitCode: number;

  constructor(message: string, exitCode = 1) {
    super(message);
    this.exitCode = exitCode;
  }
}

/** " Did you mean …?", or nothing where no known name is near. */
export function didYouMean(typed: string, known: readonly string[], shown = (name: string) => name): string {
  const name = nearest(typed, known);
  return name === null ? "" : ` Did you mean ${shown(name)}?`;
}

function usageOf(command: Command): string {
  const options = Object.keys(command.options ?? {}).length > 0 ? "[options]" : undefined;
  const parts = ["assay", command.name, command.positionals, options];
  return `Usage: ${parts.filter((part) => part !== undefined).join(" ")}`;
}

export function helpOf(command: Command, style: Style = plainStyle): string {
  const title = (text: string) => style.paint("bold", text);
  const lines = [usageOf(command), "", ...wrap(command.about, style.width)];
  const options = Object.entries(command.options ?? {}).map(([name, option]): [string, string] => [
    `--${name}${option.type === "string" ? ` ${option.placeholder ?? name.toUpperCase()}` : ""}`,
    `${option.about}${option.required ? " (required)" : ""}`,
  ]);
  options.push(["--help", "Show this."]);
  lines.push("", title("Options:"), ...indented(options, style));
  if (command.examples !== undefined)
    lines.push("", title("Examples:"), ...command.examples.map((example) => `  assay ${example}`));
  if (command.exitCodes !== undefined) {
    const ends = {
      0: "Done.",
      1: "The command is wrong, or something has to be mended first.",
      ...command.exitCodes,
    };
    lines.push("", title("Ends with:"), ...indented(Object.entries(ends), style));
  }
  lines.push(
    "",
    ...wrap(
      command.environment ?? "Settings come from the environment; docs/configuration.md lists them.",
      style.width,
    ),
  );
  return lines.join("\n");
}

function indented(rows: readonly (readonly [string, string])[], style: Style): string[] {
  const width = Math.max(...rows.map(([name]) => name.length)) + 4;
  return rows.flatMap(([name, about]) =>
    wrap(about, style.width === null ? null : Math.max(30, style.width - width)).map((line, index) =>
      index === 0 ? `  ${name}`.padEnd(width) + line : " ".repeat(width) + line,
    ),
  );
}

/** Breaks at `width`; one line without a terminal. */
function wrap(text: string, width: number | null): string[] {
  if (width === null) return [text];
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(" ")) {
    if (line !== "" && line.length + 1 + word.length > width) {
      lines.push(line);
      line = word;
    } else line = line === "" ? word : `${line} ${word}`;
  }
  return [...lines, line];
}

function firstSentence(about: string): string {
  return `${about.split(". ")[0]?.replace(/\.$/, "")}.`;
}

function overview(commands: readonly Command[], style: Style = plainStyle): string {
  return [
    "Usage: assay COMMAND [options]",
    "",
    ...indented(
      commands.map(({ name, about }): [string, string] => [name, firstSentence(about)]),
      style,
    ),
    "",
    "`assay COMMAND --help` shows the options. A command exits with 0 on success and with 1 if it is wrong or something must be fixed first.",
  ].join("\n");
}

export async function runCommand(
  commands: readonly Command[],
  argv: readonly string[],
  print: (line: string) => void,
  style: Style = plainStyle,
): Promise<number> {
  if (argv.length === 0 || argv[0] === "--help" || argv[0] === "help") {
    print(overview(commands, style));
    return argv.length === 0 ? 2 : 0;
  }
  const command = commands.find(({ name }) => name.split(" ").every((word, i) => argv[i] === word));
  if (command === undefined) return withoutCommand(commands, argv, print, style);
  const rest = argv.slice(command.name.split(" ").length);
  if (rest.includes("--help")) {
    print(helpOf(command, style));
    return 0;
  }
  const args = readArguments(command, rest);
  return command.run(args, print, style);
}

/** The first word of a group of commands shows the group; anything else is a mistake. */
function withoutCommand(
  commands: readonly Command[],
  argv: readonly string[],
  print: (line: string) => void,
  style: Style,
): number {
  const [first = "", second = ""] = argv;
  const group = commands.filter(({ name }) => name.startsWith(`${first} `));
  if (group.length > 0 && (second === "" || second === "--help")) {
    print(overview(group, style));
    return second === "" ? 2 : 0;
  }
  const typed = argv
    .filter((word) => !word.startsWith("-"))
    .slice(0, 2)
    .join(" ");
  const names = commands.map(({ name }) => name);
  const meant =
    didYouMean(typed, names, asTyped) ||
    didYouMean(
      first,
      names.filter((name) => !name.includes(" ")),
      asTyped,
    );
  const list = overview(group.length > 0 ? group : commands, style);
  throw new CommandError(
    `There is no command "${typed}".${meant}\n\n${meant === "" ? list : "`assay --help` lists the commands."}`,
  );
}

const asTyped = (name: string) => `\`assay ${name}\``;

function readArguments(command: Command, rest: readonly string[]): Arguments {
  const known = Object.entries(command.options ?? {});
  const wrong = (message: string) =>
    new CommandError(`${message}\n\n${usageOf(command)}\n\`assay ${command.name} --help\` tells more.`);
  const options: ParseArgsOptionsConfig = {};
  for (const [name, { type, multiple = false }] of known) options[name] = { type, multiple };
  let parsed: { values: Record<string, unknown>; positionals: string[] };
  try {
    parsed = parseArgs({
      args: [...rest],
      options,
      allowPositionals: command.positionals !== undefined,
      strict: true,
    });
  } catch (error) {
    const unknown = rest.find((word) => {
      const name = /^--([^=]+)/.exec(word)?.[1];
      return name !== undefined && !Object.hasOwn(options, name);
    });
    const names = [...known.map(([name]) => name), "help"];
    throw unknown === undefined
      ? wrong((error as Error).message)
      : wrong(
          `There is no option ${unknown.split("=")[0]}.${didYouMean(unknown.slice(2).split("=")[0] ?? "", names, (name) => `--${name}`)}`,
        );
  }
  for (const [name, option] of known) {
    const given = parsed.values[name];
    const removed = typeof given === "string" ? option.removedValues?.[given] : undefined;
    if (removed !== undefined) throw new CommandError(`--${name} ${given} is gone. ${removed}`);
    if (option.required && given === undefined) throw wrong(`--${name} is missing: ${option.about}`);
    if (option.values !== undefined && typeof given === "string" && !option.values.includes(given))
      throw wrong(
        `--${name} must be one of: ${option.values.join(", ")}.${didYouMean(given, option.values)}`,
      );
  }
  const repeated = new Set(known.filter(([, option]) => option.multiple).map(([name]) => name));
  const values = Object.entries(parsed.values);
  return {
    options: Object.fromEntries(values.filter(([name]) => !repeated.has(name))) as Arguments["options"],
    lists: Object.fromEntries(values.filter(([name]) => repeated.has(name))) as Arguments["lists"],
    positionals: parsed.positionals,
  };
}

/** An error for display: the problem in colour, and what to do below it. */
export function shownError(message: string, style: Style): string {
  const [first = "", ...rest] = message.split("\n");
  return [style.paint("red", first), ...rest].join("\n");
}
