import { setTimeout as wait } from "node:timers/promises";
import type { State, Style } from "./style.ts";

/** The result of a check; `todo` says what to do about it, or is null. */
export type Found = { state: State; found: string; todo: string | null };
export type Finding = Found & { check: string };
export type Check = {
  name: string;
  /** A check that takes longer than this has failed. */
  withinMs?: number;
  look: () => Promise<Found>;
};

const usuallyWithinMs = 15_000;

export const ok = (found: string): Found => ({ state: "ok", found, todo: null });
export const warning = (found: string, todo: string): Found => ({ state: "warning", found, todo });
export const problem = (found: string, todo: string): Found => ({ state: "problem", found, todo });

/** Runs all checks at once. A check that throws or hangs is reported and does not block the others. */
export function runChecks(checks: readonly Check[]): Promise<Finding[]> {
  return Promise.all(
    checks.map(async ({ name, look, withinMs = usuallyWithinMs }) => {
      const late = new AbortController();
      const found = await Promise.race([
        look().catch((error: unknown) =>
          problem(
            `The check failed: ${(error as Error).message}.`,
            "Fix what it names, then run the check again.",
          ),
        ),
        wait(withinMs, null, { signal: late.signal, ref: false })
          .catch(() => null)
          .then(() =>
            problem(
              `No answer within ${withinMs / 1000} seconds.`,
              "See whether something in between drops connections.",
            ),
          ),
      ]);
      late.abort();
      return { check: name, ...found };
    }),
  );
}

/** Prints the findings and returns the exit code: 1 for a problem, 0 for warnings at most. */
export function printFindings(
  findings: readonly Finding[],
  { json, print, style }: { json: boolean; print: (line: string) => void; style: Style },
): number {
  const count = (state: State) => findings.filter((finding) => finding.state === state).length;
  const [problems, warnings] = [count("problem"), count("warning")];
  if (json) {
    print(JSON.stringify({ ok: problems === 0, problems, warnings, checks: findings }));
    return problems === 0 ? 0 : 1;
  }
  const width = Math.max(...findings.map(({ check }) => check.length)) + 2;
  for (const { check, state, found, todo } of findings) {
    print(`${style.mark(state)} ${style.paint("bold", check.padEnd(width))}${found}`);
    if (todo !== null)
      for (const line of todo.split("\n")) print(`${" ".repeat(4)}${style.paint("cyan", "→")} ${line}`);
  }
  print("");
  const counted = (number: number, what: string) => `${number} ${what}${number === 1 ? "" : "s"}`;
  print(
    problems + warnings === 0
      ? style.paint("green", "All is well.")
      : style.paint(
          problems > 0 ? "red" : "yellow",
          `${counted(problems, "problem")}, ${counted(warnings, "warning")}.`,
        ),
  );
  return problems === 0 ? 0 : 1;
}
