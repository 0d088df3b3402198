import { createInterface } from "node:readline";

export type Terminal = { ask(question: string): Promise<string> };

/** The person at the desk has ended the reading. The session does not change. */
export class EndedAtDesk extends Error {
  constructor() {
    super("Ended at the desk. The session stays open: the same command goes on with it.");
  }
}

/** The terminal was closed with Ctrl+C or Ctrl+D, or the input has ended. */
export class TerminalClosed extends EndedAtDesk {}

/** Null unless input and output are a terminal: a program reads what is piped. */
export function processTerminal(): Terminal | null {
  const { stdin: input, stdout: output } = process;
  return input.isTTY && output.isTTY ? terminalOn(input, output) : null;
}

export function terminalOn(input: NodeJS.ReadableStream, output: NodeJS.WritableStream): Terminal {
  return {
    ask: (question) =>
      new Promise((resolve, reject) => {
        const lines = createInterface({ input, output });
        // Also at Ctrl+C and Ctrl+D, where the question would never be answered.
        lines.once("close", () => reject(new TerminalClosed()));
        lines.question(question, (answer) => {
          resolve(answer.trim());
          lines.close();
        });
      }),
  };
}

/** Answers that come as lines of a pipe, one for each question. Questions are printed as lines. */
export function linesOn(input: NodeJS.ReadableStream, print: (line: string) => void): Terminal {
  const lines = createInterface({ input })[Symbol.asyncIterator]();
  return {
    ask: async (question) => {
      print(question.trimEnd());
      const { value, done } = await lines.next();
      if (done === true) throw new TerminalClosed();
      return value.trim();
    },
  };
}
