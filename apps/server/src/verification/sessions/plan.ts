import { defaultMethods, type Method } from "@assay/contract/facts";
import type { StepRules } from "../evidence/kind.ts";
import { kinds, type Step } from "../evidence/kinds.ts";

/** The stored progress of a step, absent until a try was counted. `passed_at` is the first pass. */
type StepDone = { readonly tries: number; readonly passed_at?: string };
export type StepsDone = Readonly<Partial<Record<Step, StepDone>>>;

/** A step of a session with the rules of its kind and its progress. */
export type PlannedStep = StepRules & { kind: string; tries: number; passed: boolean };

type PlannedKinds = Readonly<Record<string, { methods: readonly Method[]; steps: readonly StepRules[] }>>;

/** The steps of a session: those of each kind that carries out one of its methods, in the partner's order. */
export function plan(
  session: { methods: readonly Method[] | null; steps: Readonly<Partial<Record<string, StepDone>>> },
  among: PlannedKinds = kinds,
): PlannedStep[] {
  const carriedOut = (session.methods ?? defaultMethods).flatMap((method) =>
    Object.entries(among).filter(([, kind]) => kind.methods.includes(method)),
  );
  return [...new Map(carriedOut)].flatMap(([kind, { steps }]) =>
    steps.map((rules) => {
      const done = session.steps[rules.name];
      return { ...rules, kind, tries: done?.tries ?? 0, passed: done?.passed_at !== undefined };
    }),
  );
}

/** Whether the session succeeds when this step passes: all steps of one kind have passed then. */
export function isCompletedBy(planned: readonly PlannedStep[], passing: PlannedStep): boolean {
  return planned.every(({ kind, name, passed }) => kind !== passing.kind || name === passing.name || passed);
}
