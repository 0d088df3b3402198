import { type Colour, type Style, styleOf } from "./style.ts";

/**
 * Output of a listener. By default everything goes to the standard output. With `json`, the standard output
 * has one JSON text per line, and texts for people go to the standard error.
 */
export class Screen {
  readonly #json: boolean;
  readonly #style: Style;

  constructor(json: boolean, env: NodeJS.ProcessEnv) {
    this.#json = json;
    this.#style = styleOf(json ? process.stderr : process.stdout, process.stderr, env);
  }

  paint(colour: Colour, text: string): string {
    return this.#style.paint(colour, text);
  }

  line(text: string): void {
    (this.#json ? process.stderr : process.stdout).write(`${text}\n`);
  }

  /** A message that asks the user to act. */
  warn(text: string): void {
    this.line(this.paint("yellow", text));
  }

  record(value: unknown): void {
    if (this.#json) process.stdout.write(`${JSON.stringify(value)}\n`);
  }
}
