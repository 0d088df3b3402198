import { verifySocketLimits as limits } from "@assay/contract/verify-protocol";
import type { ChipCommand, DeviceInput, DeviceState, DeviceStep, ReadProblem } from "./device-state.ts";
import { also, type Handlers, say, stay } from "./device-step.ts";

/** Handlers for results of the chip. */
export const onChip: Pick<
  Handlers<DeviceInput, "kind">,
  "chip_step" | "chip_read" | "chip_answered" | "chip_lost" | "chip_reopened" | "chip_failed"
> = {
  chip_step: (state, { job, step }) => (jobOf(state, job) === null ? stay(state) : stay({ ...state, step })),
  chip_read: (state, { job }) =>
    jobOf(state, job) === null
      ? stay(state)
      : stay({ ...state, chip: { read: true, stale: false, job: null }, step: { at: "sending" } }),
  chip_answered: (state, { job, answers }) => {
    const asked = jobOf(state, job);
    if (asked === null) return stay(state);
    const { command } = state;
    // The service has begun another exchange since; this answer belongs to none.
    if (command === null || !isFor(asked, command)) return stay(withIdleChip(state, { stale: true }));
    return say(
      { ...withIdleChip(state, { stale: false }), command: null },
      {
        type: "chip_answer",
        exchange: command.exchange,
        answers: [...answers],
      },
    );
  },
  chip_lost: (state, { job }) => {
    const asked = jobOf(state, job);
    if (asked === null || state.chip === null) return stay(state);
    if (state.command === null || !isFor(asked, state.command))
      return stay(withIdleChip(state, { stale: true }));
    // A fresh exchange begins once the chip is open again.
    const next = state.nextJob;
    return stay(
      { ...state, nextJob: next + 1, chip: { ...state.chip, job: { id: next, doing: asked } } },
      { kind: "reopen_chip", job: next },
    );
  },
  chip_reopened: (state, { job }) => {
    const asked = jobOf(state, job);
    if (asked === null) return stay(state);
    const idle = withIdleChip(state, { stale: false });
    if (state.command === null || !isFor(asked, state.command)) return stay(idle);
    const done: DeviceState = { ...idle, command: null };
    if (state.proofRestarts >= limits.proofRestarts)
      return also(dropChip(done), (now) => restartChip(now, "lost"));
    return say({ ...done, proofRestarts: state.proofRestarts + 1 }, { type: "chip_lost" });
  },
  chip_failed: (state, { job, problem }) => {
    if (jobOf(state, job) === null) return stay(state);
    // Never reported as an answer of the chip: that would count as a refusal and use up a try.
    const dropped = dropChip({ ...state, problem, step: null });
    return state.phase === "chip_proof" ? also(dropped, (now) => restartChip(now, problem)) : dropped;
  },
};

export function dropChip(state: DeviceState): DeviceStep {
  return state.chip === null ? stay(state) : stay({ ...state, chip: null }, { kind: "release_chip" });
}

/** Restarts the chip's part; no try is used. A reading in progress continues. */
export function restartChip(state: DeviceState, problem: ReadProblem | null): DeviceStep {
  const restarted: DeviceState = {
    ...state,
    problem,
    command: null,
    busy: false,
    step: state.chip === null ? null : state.step,
  };
  return say(restarted, { type: "chip_restart" });
}

/** An idle chip hears the command that waits for it, if one does. */
export function passOn(state: DeviceState): DeviceStep {
  const { chip, command } = state;
  if (chip === null || command === null) return stay(state);
  const job = state.nextJob;
  return stay(
    {
      ...state,
      nextJob: job + 1,
      chip: { ...chip, stale: false, job: { id: job, doing: { exchange: command.exchange } } },
      step: { at: "proof" },
    },
    { kind: "pass_on", job, command, reopenFirst: chip.stale },
  );
}

type Doing = "reading" | { readonly exchange: string };

/** The chip's current work for this job; null if its result is no longer needed. */
function jobOf({ chip }: DeviceState, job: number): Doing | null {
  return chip?.job?.id === job ? chip.job.doing : null;
}

function isFor(doing: Doing, command: ChipCommand): boolean {
  return doing !== "reading" && doing.exchange === command.exchange;
}

function withIdleChip(state: DeviceState, { stale }: { stale: boolean }): DeviceState {
  return state.chip === null ? state : { ...state, chip: { ...state.chip, stale, job: null } };
}
