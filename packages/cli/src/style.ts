const codes = { bold: 1, dim: 2, red: 31, green: 32, yellow: 33, cyan: 36 } as const;
export type Colour = keyof typeof codes;

export type State = "ok" | "warning" | "problem";

/** Output format: for a person at a terminal, or plain uncut lines for a program or a file. */
export type Style = {
  paint(colour: Colour, text: string): string;
  /** A tick, an exclamation mark or a cross; where there is no terminal, a word of one width. */
  mark(state: State): string;
  /** Characters per line; null without a terminal. */
  readonly width: number | null;
  /** Shows progress once the work takes longer than a second. */
  progress<T>(text: string, work: () => Promise<T>): Promise<T>;
};

type Stream = { isTTY?: boolean | undefined; columns?: number | undefined; write?(text: string): unknown };

const marks: Readonly<Record<State, { sign: string; word: string; colour: Colour }>> = {
  ok: { sign: "✓", word: "[ok]  ", colour: "green" },
  warning: { sign: "!", word: "[warn]", colour: "yellow" },
  problem: { sign: "✗", word: "[fail]", colour: "red" },
};

/** https://no-color.org and https://force-color.org: the former wins, as the wish for less. */
export function hasColours(shown: Stream, env: NodeJS.ProcessEnv): boolean {
  if (env.NO_COLOR) return false;
  if (env.FORCE_COLOR) return env.FORCE_COLOR !== "0";
  return shown.isTTY === true && env.TERM !== "dumb";
}

const progressAfterMs = 1000;
/** On less, lines are broken by the terminal: words below each other are worse to read. */
const minWidth = 40;

/** `shown` is where the lines go. Progress is written beside them, so that it never gets into a file. */
export function styleOf(shown: Stream, beside: Stream, env: NodeJS.ProcessEnv): Style {
  const coloured = hasColours(shown, env);
  const isTerminal = shown.isTTY === true && env.TERM !== "dumb";
  const paint = (colour: Colour, text: string) =>
    coloured ? `\u001b[${codes[colour]}m${text}\u001b[0m` : text;
  return {
    paint,
    mark: (state) => {
      const { sign, word, colour } = marks[state];
      return paint(colour, isTerminal || coloured ? sign : word);
    },
    // A terminal that does not know its width says 0.
    width: isTerminal ? Math.max(minWidth, shown.columns || 80) : null,
    progress: async (text, work) => {
      if (beside.isTTY !== true || env.TERM === "dumb") return work();
      const turns = ["-", "\\", "|", "/"];
      let turn = 0;
      let drawn = false;
      const draw = () => {
        drawn = true;
        beside.write?.(`\r\u001b[K${turns[turn++ % turns.length]} ${text}`);
      };
      let every: NodeJS.Timeout | null = null;
      const first = setTimeout(() => {
        draw();
        every = setInterval(draw, 200);
      }, progressAfterMs);
      try {
        return await work();
      } finally {
        clearTimeout(first);
        if (every !== null) clearInterval(every);
        if (drawn) beside.write?.("\r\u001b[K");
      }
    },
  };
}

export const plainStyle: Style = styleOf({}, {}, {});

/** Replaces control characters in foreign text, which a terminal would obey. */
export function printable(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for.
  return text.replace(/[\u0000-\u001f\u007f-\u009f]/g, "\ufffd");
}

const wide =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|\p{Emoji_Presentation}/u;
const segments = new Intl.Segmenter();

/** The width of a text in terminal columns. */
export function columnsOf(text: string): number {
  let columns = 0;
  for (const { segment } of segments.segment(text)) columns += wide.test(segment) ? 2 : 1;
  return columns;
}

function cut(text: string, columns: number): string {
  if (columnsOf(text) <= columns) return text;
  let kept = "";
  let used = 0;
  for (const { segment } of segments.segment(text)) {
    const needs = wide.test(segment) ? 2 : 1;
    if (used + needs > columns - 1) break;
    kept += segment;
    used += needs;
  }
  return `${kept}…`;
}

const minColumns = 8;

/**
 * Rows in aligned columns. A narrow terminal cuts the widest columns until the row fits. Without a terminal
 * nothing is cut and `headings` are left out, so that every line is a row.
 */
export function table(
  headings: readonly string[],
  rows: readonly (readonly string[])[],
  style: Style,
): string[] {
  const cells = rows.map((row) => row.map(printable));
  const shown = style.width === null ? cells : [headings, ...cells];
  const widths = headings.map((_, at) => Math.max(0, ...shown.map((row) => columnsOf(row[at] ?? ""))));
  if (style.width !== null) {
    const gaps = 2 * (widths.length - 1);
    for (;;) {
      const over = widths.reduce((sum, width) => sum + width, gaps) - style.width;
      const widest = widths.indexOf(Math.max(...widths));
      const width = widths[widest] ?? 0;
      if (over <= 0 || width <= minColumns) break;
      widths[widest] = Math.max(minColumns, width - 1);
    }
  }
  return shown.map((row, index) => {
    const line = row
      .map((cell, at) => {
        const width = widths[at] ?? 0;
        const fitted = style.width === null ? cell : cut(cell, width);
        return at === row.length - 1 ? fitted : fitted + " ".repeat(Math.max(0, width - columnsOf(fitted)));
      })
      .join("  ")
      .trimEnd();
    return style.width !== null && index === 0 ? style.paint("dim", line) : line;
  });
}
