import type { WriteStream } from "node:tty";

const codes = { bold: 1, dim: 2, red: 31, green: 32, yellow: 33, cyan: 36 } as const;
export type Colour = keyof typeof codes;

/**
 * Where a listener writes. For people, all of it goes to the standard output. With `json`, that has one JSON text a line and nothing else, and
 * what is for people goes to the standard error.
 */
export class Screen {
  readonly #json: boolean;
  readonly #hasColours: boolean;

  constructor(json: boolean, env: NodeJS.ProcessEnv) {
    this.#json = json;
    const shown: WriteStream = json ? process.stderr : process.stdout;
    this.#hasColours = !env.NO_COLOR && (Boolean(env.FORCE_COLOR) || shown.isTTY === true);
  }

  paint(colour: Colour, text: string): string {
    return this.#hasColours ? `\u001b[${codes[colour]}m${text}\u001b[0m` : text;
  }

  line(text: string): void {
    (this.#json ? process.stderr : process.stdout).write(`${text}\n`);
  }

  /** Something that whoever watches should do something about. */
  warn(text: string): void {
    this.line(this.paint("yellow", text));
  }

  record(value: unknown): void {
    if (this.#json) process.stdout.write(`${JSON.stringify(value)}\n`);
  }
}

/** What came from outside may hold control characters, which a terminal would obey. */
export function printable(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for.
  return text.replace(/[\u0000-\u001f\u007f-\u009f]/g, "\ufffd");
}
