import type { Status } from "./api.ts";

type Planned = Pick<Status, "steps">;

/** What a person goes through: they agree, do the steps of the session, and are done. The partner's page is told the same names. */
export function stepsOf(status: Planned): readonly string[] {
  return ["consent", ...planned(status).map(({ name }) => name), "done"];
}

/** The step that a phase of the reading device belongs to: its name is the beginning of the phase's. The first one before a device has connected. */
export function stepOfPhase(status: Planned, phase: string | null): Status["steps"][number] | null {
  const steps = planned(status);
  return steps.find(({ name }) => phase === name || phase?.startsWith(`${name}_`)) ?? steps[0] ?? null;
}

/** A process of the release before, which may answer during an update, does not say them. */
export function planned({ steps }: Partial<Planned>): Status["steps"] {
  return steps ?? [];
}
