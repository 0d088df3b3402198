import { createInterface } from "node:readline/promises";

/** Somebody who can be asked. */
export type Terminal = { ask(question: string): Promise<string> };

/** Null unless both ends of the command are a terminal: what is piped is read by a program. */
export function processTerminal(): Terminal | null {
  const { stdin: input, stdout: output } = process;
  if (!input.isTTY || !output.isTTY) return null;
  return {
    ask: async (question) => {
      const lines = createInterface({ input, output });
      try {
        return (await lines.question(question)).trim();
      } finally {
        lines.close();
      }
    },
  };
}
