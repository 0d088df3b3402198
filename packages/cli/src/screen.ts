import { type Colour, type Style, styleOf } from "./style.ts";

/**
 * Where a listener writes. For people, all of it goes to the standard output. With `json`, that has one JSON text a
 * line and nothing else, and what is for people goes to the standard error.
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

  /** Something that whoever watches should do something about. */
  warn(text: string): void {
    this.line(this.paint("yellow", text));
  }

  record(value: unknown): void {
    if (this.#json) process.stdout.write(`${JSON.stringify(value)}\n`);
  }
}
